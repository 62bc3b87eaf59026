"""What every promise can do: add up, convert, compare, be written down. The kinds are in ``kinds.py``.

Amounts are Fractions (a float means its shortest decimal). What a conversion rests on is in ``conversion.py``
and ``docs/proofs/guarantees.md``; nothing here knows of mechanisms or data.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, ClassVar, Self, TypeVar, cast

from sordino import checks
from sordino.checks import Explained
from sordino.errors import ParameterError, Unsupported, spell

MOST_ROWS = 10**9
"""Rows of one person beyond which no answer could be of use."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Whom we protect: everyone named in a column, with at most so many rows each.

    Without a column one row is one person.

    Args:
        column: The column that names people; None means that one row is one person.
        max_rows: How many rows of one person are used at most; the others are left out.

    Example:
        >>> Unit("person_id", max_rows=3)
        Unit(column='person_id', max_rows=3)
    """

    column: str | None = None
    max_rows: int = 1

    @classmethod
    def checked(cls, given: Any) -> Unit | None:
        """A unit, or None; the bare name of a column is refused, since how many rows count is part of the promise."""
        if given is None or isinstance(given, Unit):
            return given
        column = given if isinstance(given, str) else "person_id"
        raise ParameterError(
            "unit",
            "a unit has a column and a number of rows",
            got={"unit": given},
            why="How many rows of each person are used is part of the promise, and nobody can guess it.",
            hint=f'unit=sd.Unit("{column}", max_rows=1)',
        )

    def __post_init__(self) -> None:
        hint = f'sd.Unit("{self.column or "person_id"}", max_rows=3)'
        if checks.whole("unit", at_least=1, hint=hint, max_rows=self.max_rows) > MOST_ROWS:
            raise ParameterError(
                "unit", "max_rows must be at most 1e9", got={"max_rows": self.max_rows},
                why="The noise grows with it.", hint=hint,
            )  # fmt: skip
        if self.column is not None and not isinstance(self.column, str):
            raise ParameterError("unit", "column must be the name of a column", got={"column": self.column})
        if self.column is None and self.max_rows != 1:
            raise ParameterError(
                "unit",
                "max_rows needs a column that says whose rows belong together",
                got={"max_rows": self.max_rows},
                hint='Unit("person_id", max_rows=3)',
            )

    def to_dict(self) -> dict[str, Any]:
        """Give the record that a ledger keeps."""
        return {"column": self.column, "max_rows": self.max_rows}


G = TypeVar("G", bound="Guarantee")


@lru_cache(maxsize=1024)
def _read(*record: tuple[str, Any]) -> Guarantee:
    """A price from the texts of its record: a ledger has the same ones many times."""
    from sordino.privacy import KINDS

    named, by_kind = dict(record), {kind.kind: kind for kind in KINDS}
    if named.get("kind") not in by_kind:
        got = {"kind": named.get("kind")}
        raise ParameterError("guarantee", f"kind must be one of {', '.join(by_kind)}", got=got)
    kind = by_kind[named["kind"]]
    return kind(**{name: checks.written(named[name]) for name in _amounts(kind)})


@cache
def _amounts(kind: type[Guarantee]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


RANGE_DIGITS = 60  # binary digits of a bounded range found by bisection; the loss is 2^-60 of the price


@dataclass(frozen=True, slots=True)
class Guarantee(metaclass=Explained):
    """A promise. ``a + b`` composes, ``a.to(Approx, delta=...)`` converts, ``a.within(b)`` compares.

    All arithmetic of prices is here: parts (`share`), rows (`for_group`, `per_row`), repetition (`times`), what a score
    (`bounded_range`) or additive noise (`noise_targets`) may cost. A new kind is one subclass that fills in the rest.

    Attributes:
        kind: Its name in records.
        main: The amount that a curve over prices multiplies.
        added: The amounts that add up when releases compose; the others hold for all of them.
        pointwise: Whether it bounds the loss of every answer and nothing else, so that permute-and-flip may draw.
        gaussian: Whether noise with Gaussian tails is the cheapest that keeps it.
    """

    kind: ClassVar[str]
    main: ClassVar[str] = "epsilon"
    added: ClassVar[tuple[str, ...]] = ("epsilon",)
    pointwise: ClassVar[bool] = False
    gaussian: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in _amounts(type(self)):
            object.__setattr__(self, name, checks.non_negative(self.kind, **{name: getattr(self, name)}))

    def __repr__(self) -> str:
        amounts = ", ".join(f"{name}={spell(getattr(self, name))}" for name in _amounts(type(self)))
        return f"{type(self).__name__}({amounts})"

    def __add__(self, other: Guarantee) -> Guarantee:
        from sordino.privacy.kinds import compose

        return compose([self, other])

    def times(self, count: int) -> Guarantee:
        """Compose ``count`` releases that each promise this."""
        left = checks.whole("times", at_least=1, count=count) - 1
        total, doubled = self, self
        while left:
            if left % 2:
                total = total._plus(doubled)
            doubled = doubled._plus(doubled)
            left //= 2
        return total

    def share(self, part: checks.Number) -> Self:
        """A part of this price, of the same kind; parts that sum to one compose to it.

        Example:
            >>> from sordino.privacy import Pure
            >>> Pure(1).share(0.25) + Pure(1).share(0.75) == Pure(1)
            True
        """
        return cast("Self", _part(self, part))

    def scaled(self, factor: checks.Number) -> Self:
        """The same promise with its main amount multiplied; a delta or an omega stays."""
        exact = checks.positive("price", factor=factor)
        return replace(self, **{self.main: getattr(self, self.main) * exact})

    def per_row(self, rows: int) -> Self:
        """The promise per row whose promise for ``rows`` rows is this one: what each of several groups may cost.

        A person moves at most so many rows over all groups together. Groups that see j1, j2, ... of them lose what
        group privacy says for j1, j2, ... rows, which composes to at most what it says for their sum.

        Example:
            >>> from sordino.privacy import Concentrated, Pure
            >>> Pure(1).per_row(2), Concentrated(1).per_row(2)
            (Pure(epsilon=0.5), Concentrated(rho=0.25))
        """
        if checks.whole("per row", at_least=1, rows=rows) == 1:
            return self
        part = self._per_row(rows)
        if not part.for_group(rows).within(self):  # whatever a kind says, its own group privacy decides
            raise Unsupported(repr(self), "has no price per row", got={"rows": rows})
        return part

    @property
    def bounded_range(self) -> Fraction:
        """The largest bounded range of a single draw that this price pays for.

        Example:
            >>> from sordino.privacy import Concentrated, Pure
            >>> Pure(1).bounded_range
            Fraction(1, 1)
            >>> float(Concentrated(0.125).bounded_range)  # a little above sqrt(8 rho): the tight conversion
            1.0069...
        """
        return _largest_range(self)

    @property
    def slope(self) -> Fraction:
        """Nats per unit of a score with sensitivity 1 (bounded range twice the slope, Durfee and Rogers 2019)."""
        return self.bounded_range / 2

    @property
    def nats(self) -> float:
        """The price as a plain strength of a score, for data-free rules."""
        return float(self.bounded_range)

    @property
    def strength(self) -> float:
        """Epsilon, or sqrt(2 rho), which give noise of about the same size."""
        return float(self.noise_targets[0].epsilon)  # type: ignore[attr-defined]

    @property
    def noise_targets(self) -> tuple[Guarantee, ...]:
        """The promises to which additive noise may be calibrated under this price; the first needs no delta."""
        return (self,)

    def confusion(self, people: int) -> float | None:
        """Half the chance of confusing datasets ``people`` apart (docs/proofs/plan_limit.md); None where unknown."""
        del people
        return None

    @property
    def guessing(self) -> tuple[Fraction, Fraction] | None:
        """The epsilon by which odds can change and the delta with which that can fail; None where unknown."""
        return None

    @property
    def conversion_extra(self) -> dict[str, Fraction]:
        """What another promise must know of this one, besides its kind, to be converted to it."""
        return {}

    def to(self, kind: type[G], **extra: Any) -> G:
        """Convert to another kind of promise by the best theorem known, or raise naming what is possible.

        Args:
            kind: The class wanted.
            extra: What the theorem needs besides: ``delta`` (or ``epsilon``) for ``Approx``, ``omega`` for
                ``TruncatedConcentrated``, ``distance`` from ``Geo``.

        Example:
            >>> from sordino.privacy import Approx, Concentrated, Pure
            >>> Pure(1).to(Concentrated)
            Concentrated(rho=0.462117)
            >>> Concentrated(0.1).to(Approx, delta=1e-6)
            Approx(epsilon=2.14194, delta=1e-06)
        """
        if kind is type(self) and not extra:
            return self
        route = getattr(self, f"_to_{kind.kind.replace('-', '_')}", None)
        if route is None:
            from sordino.privacy import KINDS

            possible = [
                other.__name__ for other in KINDS if hasattr(self, f"_to_{other.kind.replace('-', '_')}")
            ]
            raise Unsupported(
                repr(self),
                f"cannot be converted to {kind.__name__}",
                why="No theorem turns this promise into that one.",
                hint=f"it converts to {', '.join(possible)}" if possible else "it converts to nothing else",
            )
        converted = route(**extra)
        assert isinstance(converted, kind)
        return converted

    def within(self, other: Guarantee) -> bool:
        """Say whether this promise is at least as strong as the other.

        Example:
            >>> from sordino.privacy import Approx, Concentrated, Pure
            >>> Pure(0.5).within(Pure(1)), Pure(1).within(Concentrated(0.5)), Pure(2).within(Approx(1, 0.01))
            (True, True, False)
        """
        if type(self) is type(other):
            return self._at_most(other)
        return self.to(type(other), **other.conversion_extra)._at_most(other)

    def to_dict(self) -> dict[str, str]:
        """Give a record with a ``kind`` key and exact amounts as text."""
        return {"kind": self.kind, **{name: str(getattr(self, name)) for name in _amounts(type(self))}}

    @staticmethod
    def from_dict(record: dict[str, str]) -> Guarantee:
        """Read what ``to_dict`` wrote.

        Example:
            >>> from sordino.privacy import Pure
            >>> Guarantee.from_dict(Pure(0.1).to_dict()) == Pure(0.1)
            True
        """
        texts = set(map(type, record.values())) == {str}
        return (_read if texts else _read.__wrapped__)(*record.items())

    @abstractmethod
    def for_group(self, size: int) -> Self:
        """Promise for ``size`` people at once; ``for_group(2)`` is replace-one from add/remove-one."""

    @abstractmethod
    def _per_row(self, rows: int) -> Self:
        """Invert `for_group`, at most."""

    @abstractmethod
    def _plus(self, other: Self) -> Self:
        """Compose two of the same kind."""

    def _at_most(self, other: Any) -> bool:
        """Compare two of the same kind, amount by amount."""
        return all(getattr(self, name) <= getattr(other, name) for name in _amounts(type(self)))

    @property
    @abstractmethod
    def words(self) -> str:
        """Say the promise in a sentence."""


@lru_cache(maxsize=1024)
def _part(price: Guarantee, part: checks.Number) -> Guarantee:
    """A share, remembered: a mechanism asks for the same ones in every release."""
    fraction = checks.between("share", 0, 1, closed=True, part=part)
    return replace(price, **{name: getattr(price, name) * fraction for name in price.added})


@lru_cache(maxsize=1024)
def _largest_range(price: Guarantee) -> Fraction:
    """Bisect for the bounded range whose conversion is within the price."""
    from sordino.privacy.kinds import BoundedRange

    try:
        fits = BoundedRange(1).within(price)
    except Unsupported:
        raise Unsupported(
            "mechanism",
            f"has no price in {type(price).__name__}",
            why="Its theorem gives a bounded range, which implies Pure, Concentrated and Approx.",
            hint="Pure(epsilon) or Concentrated(rho)",
        ) from None
    low, high = (Fraction(1), Fraction(2)) if fits else (Fraction(0), Fraction(1))
    while fits and BoundedRange(high).within(price) and high < 2**20:
        low, high = high, 2 * high
    for _ in range(RANGE_DIGITS):
        middle = (low + high) / 2
        if BoundedRange(middle).within(price):
            low = middle
        else:
            high = middle
    if low == 0:
        raise Unsupported("mechanism", "the price is too small", got={"price": price}, hint="a larger price")
    return low
