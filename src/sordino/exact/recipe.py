"""What a noise law must say about itself to be drawn exactly: the contract of `recipes/`.

A recipe turns uniforms X on [-1, 1) into a variable W; the unit-scale noise of the family is `unit * W`.
It says so three times: in floats with a proved tolerance, in balls, and, if it rejects, as a decision.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sordino import checks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sordino.exact.balls import Ball
    from sordino.exact.functions import Functions
    from sordino.exact.uniforms import LazyUniform


def tail_index(subject: str, **given: Any) -> Fraction:
    """The power of a tail that the samplers can draw, or an error."""
    why = "Heavier tails would need numbers with millions of digits."
    return checks.between(subject, Fraction(1, 1024), 10**18, closed=True, why=why, **given)


class Guard(Enum):
    """Which values of a word the fast path leaves to the slow one."""

    NONE = "none"
    ZERO = "|X| < 2^-20"
    ENDS = "|X| < 2^-20 or |X| > 1 - 2^-20"


class Fast(NamedTuple):
    """The float view of a try.

    Attributes:
        value: The float w.
        tolerance: A bound on |w - W(X)| for every completion of the words outside the guards, plus
            2^-49 |w| for the product with the scale and the sum with the location.
        gap: For rejecting recipes: the try is accepted if and only if the real gap is negative.
        gap_tolerance: A bound on the error of `gap`.
    """

    value: Any
    tolerance: Any
    gap: Any = None
    gap_tolerance: float = 0.0


class Recipe(ABC):
    """A law on the real line with a continuous distribution, drawn from finitely many uniforms.

    Attributes:
        guards: One guard per word; its length is the number of words of a try.
        rejects: Whether tries can be rejected.
        unit: The unit-scale noise is unit * W; the factor is multiplied into the scale exactly.
        proved: Whether the tolerance is proved for these parameters; if not, every draw takes the slow path.
    """

    __slots__ = ()

    guards: ClassVar[tuple[Guard, ...]]
    rejects: ClassVar[bool] = False
    unit: Fraction = Fraction(1)
    proved: bool = True

    @classmethod
    def cases(cls) -> Iterable[Recipe]:
        """Parameters for the laws; recipes of noise families are tried at the cases of their family."""
        return (cls(),)

    @property
    def words(self) -> int:
        """Words per try."""
        return len(self.guards)

    @abstractmethod
    def fast(self, f: Functions, *x: Any) -> Fast:
        """Evaluate on the heads of the words, with arrays or with floats."""

    @abstractmethod
    def ball(self, *u: LazyUniform) -> Ball:
        """Enclose W; may raise `Undecided` when more bits are needed to choose a branch."""

    def accepts(self, *u: LazyUniform) -> bool:
        """Decide exactly whether a try is accepted, or raise `Undecided`."""
        raise NotImplementedError
