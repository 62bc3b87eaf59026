"""The contract of a mechanism, and its register. One file per mechanism beside this one.

A mechanism is built from public parameters alone and turns a sealed reading into an answer that may be published.
What can be known beforehand (`guarantee`, `depth`, `trusted`) is a property; `law` is for audits on known data only.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from sordino.docstrings import completed
from sordino.errors import Unsupported
from sordino.lattice import Lattice
from sordino.privacy import Neighbors
from sordino.registry import Register

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sordino.exact.bits import Bits
    from sordino.hints import Hints
    from sordino.lattice import FiniteLattice
    from sordino.mechanisms.clip.clipped_bar import ClippedBar
    from sordino.mechanisms.clip.population_bar import PopulationBar
    from sordino.mechanisms.parts.cases import MechanismCase
    from sordino.mechanisms.parts.error_law import Errors
    from sordino.mechanisms.parts.law import Law
    from sordino.mechanisms.parts.public_noise import PublicNoise
    from sordino.noise.calibration import Calibration
    from sordino.privacy import Guarantee
    from sordino.reading.profile import Reading
    from sordino.reading.requests import Ask, Summary
    from sordino.reading.traits import Trait
    from sordino.statistics import Statistic

    Asking = Callable[[Ask], Summary]
    Asks = Sequence[Asking]
    Words = Bits | None

M = TypeVar("M", bound="Mechanism")

PERSONS = (Neighbors.REPLACE_ONE, Neighbors.ADD_REMOVE_ONE)

REGISTER: Register[Mechanism] = Register("mechanism", __name__)
"""Mechanisms by catalogue name; `kinds` fills it by importing this folder."""


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """What a mechanism says: it may be published.

    Attributes:
        value: The released number, exact (a tuple for a vector; None where the mechanism declines).
        public: By-products that the price has paid for: a released magnitude, clipping bounds, an interval.
        private: False when the random words were seeded for a test; such an answer says so wherever it is shown.
        noise: The law of the noise, where it is public given what is published: a bar follows without a further price.
    """

    value: Fraction | tuple[Fraction, ...] | None
    public: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    private: bool = True
    noise: PublicNoise | ClippedBar | PopulationBar | None = None

    def __repr__(self) -> str:
        return f"<{'' if self.private else 'NOT PRIVATE '}Answer {self.value}>"

    def __float__(self) -> float:
        if not isinstance(self.value, Fraction):
            raise TypeError("only a single released number converts to float")
        return float(self.value)


class Mechanism(ABC):
    """How an answer is drawn. Subclasses are frozen dataclasses of public parameters.

    Attributes:
        name: Catalogue name, lower case with hyphens; a class without one is not registered.
        searches: Whether it asks for intervals first, given which its last step has a known law.
        answers_tried: How many simulated answers a plan tries at least: fewer for mechanisms that take long.
        asks: The traits that its theorem rests on; without any it answers nothing.
        relations: The neighbours for which its theorem holds.
        fixed_noise: Whether the noise is for a global bound, whatever the data.
        together: Whether `answers` draws for many groups at once, and a single answer is one of them.
        for_bars: Whether it is offered only where an error bar is asked for.
        needs: Which parts of a reading it opens: ``"profile"``, ``"reach"``, ``"counts"``, or ``"rows"`` for
            mechanisms that ask the source several times.
        proof: Page in docs/proofs that states its theorem.
    """

    __slots__ = ()

    name: ClassVar[str] = ""
    searches: ClassVar[bool] = False
    answers_tried: ClassVar[int] = 200
    asks: ClassVar[tuple[Trait, ...]] = ()
    relations: ClassVar[tuple[Neighbors, ...]] = (*PERSONS, Neighbors.EDGE, Neighbors.NODE)
    fixed_noise: ClassVar[bool] = False
    together: ClassVar[bool] = False
    for_bars: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()
    proof: ClassVar[str] = ""

    price: Any

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__doc__ = completed(cls)
        if cls.__dict__.get("name"):
            REGISTER.add(cls.name, cls)
        for entry in ("draw", "answer", "answers"):
            method = cls.__dict__.get(entry)
            if method is not None and not getattr(method, "__isabstractmethod__", False):
                setattr(cls, entry, _marked(method))

    def refusal(self, statistic: Statistic) -> str | None:
        """Why no theorem covers what this mechanism would answer to a statistic, in a sentence; None where one does.

        Public, and asked before anything is spent. A mechanism made of others asks them too.

        Example:
            >>> from sordino.mechanisms.additive.geometric import Geometric
            >>> from sordino.privacy import Pure
            >>> from sordino.statistics.count import Count
            >>> from sordino.statistics.mean import Mean
            >>> Geometric(price=Pure(1)).refusal(Count("x")) is None
            True
            >>> Geometric(price=Pure(1)).refusal(Mean("x", low=0, high=1))
            'Its theorem is about a count: a whole number that one row moves by a whole number.'
        """
        return lacking(statistic, *self.asks) or self._other_relation(statistic)

    def _other_relation(self, statistic: Statistic) -> str | None:
        if statistic.neighbors in self.relations:
            return None
        return f"Its theorem is not about {statistic.neighbors.value} neighbours."

    def lattices(self, statistic: Statistic, grid: Lattice) -> Mapping[str, Lattice]:  # noqa: ARG002
        """The public lattice of every number of an answer, by name; ``value`` is the answer itself.

        What is named by a word (a key, yes or no) has none. They are known before anything is read.
        """
        return {"value": Lattice(Fraction(0), grid.step)}

    def rests_on(self, statistic: Statistic) -> list[str]:  # noqa: ARG002
        """What a release by this mechanism rests on beyond the promise, in sentences; public."""
        return []

    @property
    def guarantee(self) -> Guarantee:
        """What one answer costs: the price, where it has one and all its steps compose to it."""
        return self.price

    @property
    def depth(self) -> int:
        """How many changed rows a reading must look ahead; public."""
        return 0

    @classmethod
    def offers(cls, statistic: Statistic, price: Guarantee, hints: Hints) -> Iterable[Mechanism]:
        """How this mechanism would answer a statistic at a price, the best way first; from public numbers alone.

        What it yields is taken by default where the statistic says that the mechanism suits it. It yields nothing where
        another mechanism is better, or where it has no theorem.
        """
        del statistic, price, hints
        return ()

    @classmethod
    def alternatives(cls, statistic: Statistic, price: Guarantee, hints: Hints) -> Iterable[Mechanism]:
        """Other ways to answer that a plan shows beside the default."""
        del statistic, price, hints
        return ()

    @classmethod
    def cases(cls) -> Iterable[MechanismCase]:
        """Ways in which it answers: what the laws and the replay of `sordino.testing` are run on.

        By default all that it offers for the statistics of the catalogue, at every kind of price. A mechanism that
        offers nothing says here how it is built; one without any case fails its laws.
        """
        from sordino.mechanisms.parts.cases import offered

        return offered(cls)

    @property
    def label(self) -> str:
        """What a table of options calls it."""
        return self.name

    @property
    def adaptive(self) -> bool:
        """Whether the noise follows the data at hand; noise for a global bound does not."""
        return not self.fixed_noise

    @property
    def smooth_noise(self) -> Calibration | None:
        """The noise that is scaled to a smooth bound, where there is one; public."""
        return None

    @property
    def barred(self) -> bool:
        """Whether the answer comes with an interval that was paid for: one of a level, where it has one."""
        return getattr(self, "level", None) is not None

    @property
    def bar_covers(self) -> str:
        """What a bar that was paid for covers: ``"sample"`` or ``"population"``."""
        return "sample"

    @property
    def no_bar(self) -> str:
        """Why no bar is known for an answer whose noise is not public, in a sentence."""
        return "No interval with a proved and measured coverage is known for it."

    @property
    def clips(self) -> bool:
        """Whether answers are cut to the public range of the statistic."""
        return False

    @property
    def trusted(self) -> bool:
        """Whether public numbers say that the answer can be useful; the planner and the release repeat it."""
        return True

    @abstractmethod
    def draw(self, reading: Reading, grid: Lattice, *, bits: Bits | None = None) -> Answer:
        """Draw one answer, exactly rounded to the public grid, with fresh random bits."""

    @abstractmethod
    def law(self, reading: Reading) -> Law:
        """The exact output distribution on known data: for laws and audits, never for a release."""

    def answer(
        self, statistic: Any, ask: Asking, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Answer:
        """Ask the source for what the statistic needs, read it and draw. The only entry a session calls.

        Args:
            statistic: What is asked.
            ask: Answers one request with a summary; private.
            grid: The public output lattice.
            contribution: How many rows one person may move.
            bits: A source of random words; fresh ones by default.
        """
        if self.together:
            return self.answers(statistic, [ask], grid, contribution=contribution, bits=bits)[0]
        return self.draw(self.reading(statistic, ask, contribution), grid, bits=bits)

    def reading(self, statistic: Statistic, ask: Asking, contribution: int) -> Reading:
        """What one answer is drawn from: the statistic, read as far ahead as the mechanism looks; private."""
        summary = ask(statistic.request(depth=self.depth * contribution))
        return statistic.read(summary).by(contribution)

    @property
    def reads_once(self) -> bool:
        """Whether an answer is one draw from one reading, so that a simulation may draw from it many times."""
        return type(self).answer is Mechanism.answer and not self.together

    @property
    def asks_again(self) -> bool:
        """Whether its next question may depend on what it has released, and many groups are not asked together."""
        return not self.reads_once and type(self).answers is Mechanism.answers

    def error_laws(
        self,
        statistic: Statistic,
        ask: Asking,
        grid: Lattice,
        truth: Any,
        *,
        contribution: int = 1,
        bits: Bits | None = None,
    ) -> Sequence[Errors] | None:
        """The law of the error of an answer on a public table, one per coordinate; None where it must be simulated.

        Args:
            statistic: What is asked.
            ask: Answers requests about a public or generated table.
            grid: The public output lattice.
            truth: The statistic of the table.
            contribution: How many rows one person may move.
            bits: Random words of a simulation, for mechanisms with `searches`, whose law holds given what they find.
        """
        del bits
        if not self.reads_once or statistic.vector:
            return None
        return self._error_laws(self.reading(statistic, ask, contribution), grid, truth)

    def _error_laws(self, reading: Reading, grid: Lattice, truth: Any, **law: Any) -> Sequence[Errors] | None:
        from sordino.mechanisms.parts.error_law import ErrorLaw
        from sordino.mechanisms.parts.law import LatticeLaw, MixtureLaw

        try:
            known = self.law(reading, **law)
        except Unsupported:
            return None
        opened = reading.open()
        low, high = -math.inf, math.inf
        if self.clips and opened.bottom is not None and opened.top is not None:
            low, high = float(opened.units.real(opened.bottom)), float(opened.units.real(opened.top))
        own = isinstance(known, LatticeLaw | MixtureLaw)
        step = None if own else float(grid.step)
        return [ErrorLaw(known, truth=Fraction(truth), step=step, low=low, high=high)]

    def answers(
        self, statistic: Any, asks: Asks, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Sequence[Answer]:
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


def _marked(method: Callable[..., Any]) -> Callable[..., Any]:
    """Mark answers that were drawn from seeded words: they reveal the noise to whoever knows the seed."""

    @functools.wraps(method)
    def draw(*arguments: Any, bits: Bits | None = None, **options: Any) -> Any:
        found = method(*arguments, bits=bits, **options)
        if bits is None or bits.private:
            return found
        if isinstance(found, Answer):
            return dataclasses.replace(found, private=False)
        return [dataclasses.replace(one, private=False) for one in found]

    return draw


def lacking(statistic: Statistic, *asked: Trait) -> str | None:
    """Why a theorem about these traits does not cover a statistic: the first that it has not."""
    if not asked:
        return "It does not say which statistics its theorem covers."
    missing = [trait for trait in asked if trait not in statistic.traits]
    return f"Its theorem is about {missing[0].value}." if missing else None


def other_lattice(statistic: Any, lattice: FiniteLattice) -> str | None:
    """Why a mechanism built for other answers does not cover a statistic of one column."""
    units = statistic.grid.endless
    if (lattice.origin, lattice.step, lattice.last) == (units.origin, units.step, statistic.grid.last):
        return None
    return "It was built for a lattice of answers that is not the one of the statistic."


def other_bounds(statistic: Any, low: float, high: float) -> str | None:
    """Why a mechanism planned for other bounds does not cover a statistic of one column."""
    if (float(low), float(high)) == (statistic.grid.low, statistic.grid.high):
        return None
    return "It was planned for other bounds than those of the statistic."


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
    return REGISTER.load()


def _plain(value: Any) -> Any:
    """Write a field with JSON's types."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool | enum.Enum):
        return value.value if isinstance(value, enum.Enum) else value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        named = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"kind": type(value).__name__, **named}
    return type(value).__name__  # a record holds no Python: addresses in memory would differ between runs


__all__ = ["REGISTER", "Answer", "Mechanism", "kinds", "matched"]
