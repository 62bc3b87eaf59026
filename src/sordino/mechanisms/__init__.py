"""The contract of a mechanism, and its register. One file per mechanism beside this one.

A mechanism is built from public parameters alone and turns a sealed reading into an answer that may be published.
What can be known beforehand (`guarantee`, `depth`, `trusted`) is a property; `law` is for audits on known data only.
"""

from __future__ import annotations

import dataclasses
import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from sordino import registry

if TYPE_CHECKING:
    from sordino.exact.bits import Bits
    from sordino.exact.grid import Grid
    from sordino.mechanisms.parts.law import Law
    from sordino.privacy import Guarantee
    from sordino.reading.profile import Reading
    from sordino.reading.requests import Ask, Summary
    from sordino.statistics import Statistic

    Asking = Callable[[Ask], Summary]

M = TypeVar("M", bound="Mechanism")

REGISTER: dict[str, type[Mechanism]] = {}
"""Mechanisms by catalogue name; `sordino.catalogue` fills it by importing this folder."""


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """What a mechanism says: it may be published.

    Attributes:
        value: The released number, exact (a tuple for a vector; None where the mechanism declines).
        public: By-products that the price has paid for: a released magnitude, clipping bounds, an interval.
        private: False when the random words were seeded for a test; such an answer says so wherever it is shown.
    """

    value: Fraction | tuple[Fraction, ...] | None
    public: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    private: bool = True

    def __repr__(self) -> str:
        mark = "" if self.private else "NOT PRIVATE "
        return f"<{mark}Answer {self.value}>"

    def __float__(self) -> float:
        if not isinstance(self.value, Fraction):
            raise TypeError("only a single released number converts to float")
        return float(self.value)


class Mechanism(ABC):
    """How an answer is drawn. Subclasses are frozen dataclasses of public parameters.

    Attributes:
        name: Catalogue name, lower case with hyphens; a class without one is not registered.
        needs: Which parts of a reading it opens: ``"profile"``, ``"reach"``, ``"counts"``, or ``"rows"`` for
            mechanisms that ask the source several times.
        proof: Page in docs/proofs that states its theorem.
    """

    __slots__ = ()

    name: ClassVar[str] = ""
    needs: ClassVar[tuple[str, ...]] = ()
    proof: ClassVar[str] = ""

    if TYPE_CHECKING:

        @property
        def guarantee(self) -> Guarantee:
            """What one answer costs."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__dict__.get("name"):
            known = REGISTER.get(cls.name)
            # A dataclass with slots builds its class twice; both have the same qualified name.
            if known is not None and (known.__module__, known.__qualname__) != (
                cls.__module__,
                cls.__qualname__,
            ):
                raise TypeError(f"two mechanisms are called {cls.name!r}")
            REGISTER[cls.name] = cls
        for entry in ("draw", "answer"):
            method = cls.__dict__.get(entry)
            if method is not None and not getattr(method, "__isabstractmethod__", False):
                setattr(cls, entry, _marked(method))

    @property
    def depth(self) -> int:
        """How many changed rows a reading must look ahead; public."""
        return 0

    @property
    def trusted(self) -> bool:
        """Whether public numbers say that the answer can be useful; the planner and the release repeat it."""
        return True

    @abstractmethod
    def draw(self, reading: Reading, grid: Grid, *, bits: Bits | None = None) -> Answer:
        """Draw one answer, exactly rounded to the public grid, with fresh random bits."""

    @abstractmethod
    def law(self, reading: Reading) -> Law:
        """The exact output distribution on known data: for laws and audits, never for a release."""

    def answer(
        self,
        statistic: Statistic,
        ask: Asking,
        grid: Grid,
        *,
        contribution: int = 1,
        bits: Bits | None = None,
    ) -> Answer:
        """Ask the source for what the statistic needs, read it and draw. The only entry a session calls.

        Args:
            statistic: What is asked.
            ask: Answers one request with a summary; private.
            grid: The public output lattice.
            contribution: How many rows one person may move.
            bits: A source of random words; fresh ones by default.
        """
        summary = ask(statistic.request(depth=self.depth * contribution))
        return self.draw(statistic.read(summary).by(contribution), grid, bits=bits)

    def answers(
        self,
        statistic: Statistic,
        asks: Sequence[Asking],
        grid: Grid,
        *,
        contribution: int = 1,
        bits: Bits | None = None,
    ) -> list[Answer]:
        """One answer per group, each from what its own rows say; mechanisms that draw many at once do so here."""
        return [self.answer(statistic, ask, grid, contribution=contribution, bits=bits) for ask in asks]

    def to_dict(self) -> dict[str, Any]:
        """A plain description with a ``kind`` key, for events."""
        described = {
            field.name: _plain(getattr(self, field.name))
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if not field.name.startswith("_")
        }
        return {"kind": self.name, **described}


def _marked(method: Callable[..., Answer]) -> Callable[..., Answer]:
    """Mark answers that were drawn from seeded words: they reveal the noise to whoever knows the seed."""

    @functools.wraps(method)
    def draw(*arguments: Any, bits: Bits | None = None, **options: Any) -> Answer:
        found = method(*arguments, bits=bits, **options)
        return found if bits is None or bits.private else dataclasses.replace(found, private=False)

    return draw


def matched(mechanism: M, statistic: Statistic) -> M:
    """The mechanism for the neighbours of the statistic, whatever it was built for: theirs decide what a row costs."""
    if getattr(mechanism, "neighbors", None) is statistic.neighbors:
        return mechanism
    return dataclasses.replace(mechanism, neighbors=statistic.neighbors)  # type: ignore[type-var]


def kinds() -> dict[str, type[Mechanism]]:
    """Import the folder's mechanisms and those of installed plug-ins, and list them by name.

    Example:
        >>> "piecewise-laplace" in kinds()
        True
    """
    registry.load(__name__, __path__)
    return dict(sorted(REGISTER.items()))


def _plain(value: Any) -> Any:
    """Write a field with JSON's types."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return repr(value)


__all__ = ["REGISTER", "Answer", "Mechanism", "kinds", "matched"]
