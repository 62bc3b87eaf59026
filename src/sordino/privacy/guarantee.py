"""What every promise can do: add up, convert, compare, be written down. The kinds are in ``kinds.py``.

Amounts are Fractions (a float means its shortest decimal). What a conversion rests on is in ``conversion.py``
and ``docs/proofs/guarantees.md``; nothing here knows of mechanisms or data.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeVar

from sordino import checks
from sordino.calling import Explained
from sordino.errors import ParameterError, Unsupported, spell

G = TypeVar("G", bound="Guarantee")


@dataclass(frozen=True, slots=True)
class Guarantee(metaclass=Explained):
    """A promise. ``a + b`` composes, ``a.to(Approx, delta=...)`` converts, ``a.within(b)`` compares."""

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        for field in fields(self):
            value = checks.non_negative(self.kind, **{field.name: getattr(self, field.name)})
            object.__setattr__(self, field.name, value)

    def __repr__(self) -> str:
        amounts = ", ".join(f"{field.name}={spell(getattr(self, field.name))}" for field in fields(self))
        return f"{type(self).__name__}({amounts})"

    def __add__(self, other: Guarantee) -> Guarantee:
        from sordino.privacy.composition import compose

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
            from sordino.privacy.kinds import KINDS

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
        # What the other kind fixes besides its main amount is what the conversion needs.
        extra = {name: getattr(other, name) for name in ("delta", "omega") if hasattr(other, name)}
        return self.to(type(other), **extra)._at_most(other)

    def to_dict(self) -> dict[str, str]:
        """Give a record with a ``kind`` key and exact amounts as text."""
        amounts = {field.name: str(getattr(self, field.name)) for field in fields(self)}
        return {"kind": self.kind, **amounts}

    @staticmethod
    def from_dict(record: dict[str, str]) -> Guarantee:
        """Read what ``to_dict`` wrote.

        Example:
            >>> from sordino.privacy import Pure
            >>> Guarantee.from_dict(Pure(0.1).to_dict()) == Pure(0.1)
            True
        """
        from sordino.privacy.kinds import KINDS

        by_kind = {kind.kind: kind for kind in KINDS}
        if record.get("kind") not in by_kind:
            raise ParameterError(
                "guarantee", f"kind must be one of {', '.join(by_kind)}", got={"kind": record.get("kind")}
            )
        kind = by_kind[record["kind"]]
        return kind(**{field.name: Fraction(record[field.name]) for field in fields(kind)})

    @abstractmethod
    def for_group(self, size: int) -> Self:
        """Promise for ``size`` people at once; ``for_group(2)`` is replace-one from add/remove-one."""

    @abstractmethod
    def _plus(self, other: Self) -> Self:
        """Compose two of the same kind."""

    def _at_most(self, other: Any) -> bool:
        """Compare two of the same kind, amount by amount."""
        return all(getattr(self, field.name) <= getattr(other, field.name) for field in fields(self))

    @property
    @abstractmethod
    def words(self) -> str:
        """Say the promise in a sentence."""
