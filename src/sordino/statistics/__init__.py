"""The contract of a statistic, and its register. One file per statistic beside this one.

A statistic is a public description: `request` says what it needs of the data, `read` turns the source's exact
summary into a sealed `Reading`. Noise and mechanisms are unknown here.
"""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.checks import Explained
from sordino.docstrings import completed
from sordino.errors import ParameterError, Unsupported
from sordino.lattice import BITS, Lattice, RowLattice
from sordino.privacy import Neighbors
from sordino.reading.formula import Formula
from sordino.reading.profile import Exact, Opened, Reading
from sordino.reading.traits import Trait
from sordino.registry import Register

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sordino.hints import Hints
    from sordino.privacy import Guarantee
    from sordino.reading.requests import Ask, Summary


REGISTER: Register[Statistic] = Register("statistic", __name__)
"""Statistics by catalogue name; `kinds` fills it by importing this folder."""

DEPTH = 64
"""Distance up to which a request asks when the mechanism does not say how far it looks."""

ROOT_TWO = Fraction(1414213563, 10**9)
"""The square root of two, rounded up."""

BOTH = (Neighbors.REPLACE_ONE, Neighbors.ADD_REMOVE_ONE)


NESTED = ("piecewise-laplace", "inverse-sensitivity")
"""Mechanisms on nested intervals: near instance-optimal where the envelopes are exact."""


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """A tiny world for the laws: every dataset over it is enumerated.

    Args:
        statistic: What is read.
        rows: What one row may be: each a tuple with one real number, category or vertex per column.
        sizes: Numbers of rows to enumerate; add/remove-one enumerates every size up to the largest, and under
            edge privacy a dataset is any set of different rows.
        columns: Names of the columns.
        places: Instead of ``rows``: what the row of each place may be, when rows are told apart by public
            places (the weights of a public topology); neighbours then differ in one place.
    """

    statistic: Statistic
    rows: tuple[tuple[Any, ...], ...]
    sizes: tuple[int, ...] = (1, 2, 3)
    columns: tuple[str, ...] = ("x",)
    places: tuple[tuple[tuple[Any, ...], ...], ...] = ()


class Described(Explained):
    """Makes statistics: columns that are given as formulas are kept by their names."""

    def __call__(cls, *given: Any, **named: Any) -> Any:  # noqa: N805
        return super().__call__(*map(_columns, given), **{name: _columns(one) for name, one in named.items()})


def _columns(given: Any) -> Any:
    if isinstance(given, tuple | list) and any(isinstance(one, Formula) for one in given):
        return type(given)(map(_columns, given))
    return given.text if isinstance(given, Formula) else given


class Statistic(metaclass=Described):
    """A public description of what is asked.

    Subclasses are frozen dataclasses with keyword-only options and these class attributes:

    Attributes:
        name: Catalogue name, lower case with hyphens; a class without one is not registered.
        relations: The neighbour relations for which the statistic has envelopes.
        vector: Whether the value is a tuple (then ``reach`` is None and ``profile`` is in the norm).
        norm: The norm of a vector's profile: 1, 2 or inf.
        suits: Catalogue names of the mechanisms that suit it, the best first; empty where its envelopes decide.
        tallies: Whether each of its numbers counts the rows that have a property of their own.
        most_rows: Above so many rows it is refused before anything is spent, since its work grows faster than a sort's.
        neighbors: Which two datasets are neighbours; a session sets it to the relation of its ledger.
    """

    __slots__ = ()

    name: ClassVar[str] = ""
    relations: ClassVar[tuple[Neighbors, ...]] = BOTH
    vector: ClassVar[bool] = False
    norm: ClassVar[float] = 1.0
    suits: ClassVar[tuple[str, ...]] = ()
    tallies: ClassVar[bool] = False
    most_rows: ClassVar[int | None] = None

    if TYPE_CHECKING:

        @property
        def neighbors(self) -> Neighbors:
            """Which two datasets are neighbours."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__doc__ = completed(cls)
        if cls.__dict__.get("name"):
            REGISTER.add(cls.name, cls)

    @property
    def traits(self) -> frozenset[Trait]:
        """What a theorem may rest on; public. A mechanism that needs another trait refuses the statistic."""
        return frozenset({Trait.VECTOR if self.vector else Trait.NUMBER, *self.shows()})

    def shows(self) -> tuple[Trait, ...]:
        """The traits beyond being a number or a vector; statistics that have more say so."""
        return ()

    @property
    def euclidean(self) -> Fraction | None:
        """How far one row moves a vector in the Euclidean norm at most, where that is known to be less; public."""
        return None

    @property
    def is_count(self) -> bool:
        """Whether its numbers are counts: whole and not negative; public."""
        return self.tallies or Trait.WHOLE in self.traits

    @property
    def units(self) -> Lattice:
        """The public lattice on which the value is counted."""
        return Lattice()

    @property
    def exact(self) -> tuple[str, ...]:
        """Which of ``"profile"``, ``"low"`` and ``"high"`` (of the reach) equal the smallest valid ones.

        It speaks of data from which no row is dropped, and of distances up to the depth of the request.
        """
        return ()

    @property
    def suited(self) -> tuple[str, ...]:
        """What suits it: as it says, or nested intervals where they are exact, else noise."""
        if self.suits:
            return self.suits
        if self.vector:
            return ("radial-laplace",)
        return NESTED if {"low", "high"} <= set(self.exact) else ("additive",)

    def smoothing(self, price: Guarantee, hints: Hints) -> Fraction | None:
        """The smoothing that suits additive noise: 0 for a global bound, None where noise does not suit.

        A tenth of the strength does for statistics whose range is public and not much wider than the data.
        """
        return hints.smoothing or Fraction(f"{0.1 * price.strength:.4g}")

    @property
    def counts_rows(self) -> bool:
        """Whether neighbours differ in rows, whose number bounds how far a reading needs to look; not so for edges."""
        return self.neighbors in BOTH

    @property
    def breakdown(self) -> float | None:
        """The share of rows that must change before the bounds are reached; None where it is not known."""
        return None

    def smoothing_tried(self, price: Guarantee, hints: Hints) -> Fraction:
        """The smoothing at which a plan tries noise: the caller's, or one that does not feel bounds far away."""
        if hints.smoothing is not None:
            return Fraction(hints.smoothing)
        if self.breakdown is None or hints.rows is None:
            return Fraction(f"{0.1 * price.strength:.4g}")
        from sordino.statistics.smoothing_rule import breakdown_smoothing

        return breakdown_smoothing(self, price, hints)

    @abstractmethod
    def request(self, *, depth: int = DEPTH) -> Ask:
        """What the statistic needs of the data to answer up to this distance; public."""

    def whole(self) -> Ask | None:
        """What is enough for its value and its global bound, where that is less than `request`; public."""
        return None

    @abstractmethod
    def open(self, summary: Summary) -> Opened:
        """The private numbers; `read` seals them."""

    def values_alike(self, summaries: Sequence[Summary]) -> list[int] | None:  # noqa: ARG002
        """The values of many groups that all have the profile of the first, and no ends; None where each is read."""
        return None

    def read(self, summary: Summary) -> Reading:
        """Turn a source's summary into a sealed reading: a pure function, defined for every dataset."""
        self.check_rows()
        return Reading(self.open(summary))

    def check_rows(self) -> None:
        """Refuse to read dropped rows under replace-one: their number is private, so a replacement is two steps.

        Which relation a question is read in, and how many rows one person moves in it, is decided in one place, when it
        is priced (`sordino.session.quote`).
        """
        if self.neighbors is Neighbors.REPLACE_ONE and getattr(self, "missing", None) == "drop":
            raise Unsupported(
                self.name,
                "with dropped rows is read in its add/remove form",
                why="Dropping makes the number of rows private: a replacement may remove one row and add another.",
                hint="neighbors=Neighbors.ADD_REMOVE_ONE, and a contribution of two rows per replaced row",
            )

    @abstractmethod
    def define(self, rows: Sequence[Any]) -> Any:
        """The statistic in one slow line, in steps of `units`, on a list of quantised rows: what the laws trust.

        Rows are codes, or tuples of codes, keys or vertices where there are several columns.
        """

    @classmethod
    @abstractmethod
    def cases(cls) -> Iterable[Case]:
        """Tiny worlds in which the laws enumerate every dataset and every neighbour."""

    def check_relation(self) -> None:
        """Refuse a neighbour relation for which no envelope is known; its name as a text becomes the relation."""
        object.__setattr__(self, "neighbors", Neighbors.of(self.neighbors))
        if self.neighbors not in self.relations:
            raise Unsupported(
                self.name,
                "has no envelopes for these neighbours",
                got={"neighbors": self.neighbors.value},
                hint="neighbors=" + " or ".join(str(relation) for relation in self.relations),
            )

    def to_dict(self) -> dict[str, Any]:
        """A plain description that `from_dict` reads back."""
        fields = {f.name: _plain(getattr(self, f.name)) for f in dataclasses.fields(self) if f.init}  # type: ignore[arg-type]
        return {"kind": self.name, **fields}

    @staticmethod
    def from_dict(description: Mapping[str, Any]) -> Statistic:
        """Build a registered statistic from its description.

        Example:
            >>> from sordino.statistics.median import Median
            >>> plan = Median("income", low=0, high=500_000)
            >>> Statistic.from_dict(plan.to_dict()) == plan
            True
        """
        fields = dict(description)
        kind = fields.pop("kind")
        found = REGISTER.get(kind)
        if found is None:
            raise ParameterError("statistic", "kind must be a known statistic", got={"kind": kind})
        return found(**{key: _rich(value) for key, value in fields.items()})


def kinds() -> dict[str, type[Statistic]]:
    """Import the folder's statistics and those of installed plug-ins, and list them by name.

    Example:
        >>> "median" in kinds()
        True
    """
    return REGISTER.load()


def _plain(value: Any) -> Any:
    """Write a field with JSON's types."""
    if isinstance(value, Statistic):
        return value.to_dict()
    if isinstance(value, Neighbors):
        return {"neighbors": value.value}
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, Decimal):
        return {"fraction": str(Fraction(value))}
    if isinstance(value, float) and math.isinf(value):
        return {"fraction": str(value)}  # JSON has no infinity
    return value.item() if hasattr(value, "item") else value


def _rich(value: Any) -> Any:
    """Read a field back."""
    if isinstance(value, dict):
        if "kind" in value:
            return Statistic.from_dict(value)
        if "neighbors" in value:
            return Neighbors(value["neighbors"])
        number = value["fraction"]
        return float(number) if number.endswith("inf") else Fraction(number)
    if isinstance(value, list):
        return tuple(_rich(item) for item in value)
    return value


__all__ = ["BOTH", "DEPTH", "REGISTER", "Case", "Exact", "Opened", "Statistic", "kinds"]


@lru_cache(maxsize=512, typed=True)
def _grid(
    low: float, high: float, bits: int, missing: float | str | None, step: Fraction | float | None
) -> RowLattice:
    """Grids are public and immutable, and every reading asks for its own several times."""
    return RowLattice(low, high, bits=bits, missing=missing, step=step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Numeric(Statistic):
    """A statistic of one numeric column with public bounds.

    Args:
        column: Name of the column.
        low: Public lower bound; rows below it are clamped to it.
        high: Public upper bound; rows above it are clamped to it.
        step: The lattice on which the data live, when they live on one (1 for ages, 0.01 for pay).
        missing: What a row that is not a number counts as: a number, or ``"drop"``. Without one it counts as 0, or as
            the bound nearer to 0. Dropping makes the number of rows private.
        bits: Resolution of the lattice when no step is declared.
        neighbors: Which two datasets are neighbours.
    """

    column: str = field(kw_only=False)
    low: float
    high: float
    step: Fraction | float | None = None
    missing: float | str | None = None
    bits: int = BITS
    neighbors: Neighbors = Neighbors.REPLACE_ONE

    def __post_init__(self) -> None:
        self.check()

    def shows(self) -> tuple[Trait, ...]:
        """Reachable intervals between public bounds."""
        return () if self.vector else (Trait.REACH, Trait.RANGE)

    def check(self) -> None:
        """Refuse parameters outside their domain; subclasses add their own."""
        self.check_relation()
        try:
            RowLattice(self.low, self.high, bits=self.bits, missing=self.missing, step=self.step)
        except ParameterError as error:  # speak of the statistic that was asked for
            raise ParameterError(
                self.name, error.rule, got=error.got, why=error.why, hint=error.hint
            ) from None

    @property
    def grid(self) -> RowLattice:
        """The public lattice of the rows."""
        return _grid(self.low, self.high, self.bits, self.missing, self.step)

    @property
    def units(self) -> Lattice:
        """Values are counted in the steps of the rows."""
        return self.grid.endless
