"""The contract of a curve: a function of one coordinate that moves at most as fast as the point itself.

Every query of this folder is a curve of such a coordinate (a distance, a signed distance, a linear form), so its
smooth bounds are one-dimensional. The curves are in their own files; which coordinate they take is in the queries.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from sordino import checks
from sordino.errors import ParameterError
from sordino.exact.functions import ARRAYS, ERROR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Which pairs of points the bound looks at: only the slope, all pairs, or pairs within a distance.
Scope = str | float
GROWTHS = ("exponential", "linear")
#: Relative error of the exponential in use, with room for the rounding of its argument's last product.
EXP_ERROR = 2.0 * ERROR


def exponential(x: Any) -> Any:
    """e^x for x <= 0 from IEEE operations alone, so that its error is proved (docs/proofs/exact_functions.md)."""
    return ARRAYS.exp(np.asarray(x, dtype=np.float64))


class Slack(NamedTuple):
    """How far floats may stray from the real curve, in metres of movement of the point.

    Attributes:
        value: |computed value - value| is at most the bound times this.
        bound: |log(computed bound / bound)| is at most the smoothing times this.
    """

    value: float
    bound: float


@dataclass(frozen=True, slots=True)
class Curve(ABC):
    """A Lipschitz function of a coordinate u, with smooth upper bounds on its pointwise Lipschitz constant.

    A bound B at smoothing g is *smooth* if B(u) <= growth(|u - v|) B(v), with growth e^{g t} ("exponential")
    or 1 + g t ("linear"); see Liang and Yi 2024, Definition 8.
    """

    #: Whether the curve moves only where its local bound is constant; then Laplace-Pareto noise is valid.
    plateau: ClassVar[bool] = False
    #: In reports the bound never falls below this share of the Lipschitz constant.
    floor: ClassVar[float] = 2.0**-20

    @property
    @abstractmethod
    def lipschitz(self) -> float:
        """The global Lipschitz constant, never rounded below the truth by more than a last digit."""

    @property
    @abstractmethod
    def extremes(self) -> tuple[float, float]:
        """The public range of values."""

    @abstractmethod
    def value(self, u: Floats) -> Floats:
        """The curve at many coordinates."""

    @abstractmethod
    def bound(
        self, u: Floats, smoothing: float, *, scope: Scope = "local", growth: str = "exponential"
    ) -> Floats:
        """A smooth upper bound at many coordinates; not cut off at a floor."""

    @abstractmethod
    def far(self, smoothing: float, floor: float) -> float:
        """The |u| beyond which the bound has reached `floor * lipschitz`; coordinate errors count up to here."""

    @abstractmethod
    def slack(self, smoothing: float, floor: float) -> Slack:
        """Bound the float errors of `value` and of the bound raised to `floor * lipschitz`, at exact coordinates.

        What an error of the coordinate adds is the same for all curves: |f'| <= B and |(log B)'| <= smoothing, so
        it is that error itself, in both places.
        """

    def both(
        self, u: Floats, smoothing: float, *, floor: float = 0.0, scope: Scope = "local"
    ) -> tuple[Floats, Floats]:
        """Value and bound together, the bound raised to `floor * lipschitz` (a maximum of smooth bounds is smooth)."""
        bound = self.bound(u, smoothing, scope=scope)
        return self.value(u), np.maximum(bound, floor * self.lipschitz)


def check_scope(scope: Scope, growth: str) -> float:
    """Return the distance a scope looks at: zero for the slope alone, infinity for all pairs."""
    checks.one_of("bound", GROWTHS, growth=growth)
    if isinstance(scope, str):
        if scope not in {"local", "global"}:
            raise ParameterError(
                "bound",
                "scope must be local, global or a distance",
                got={"scope": scope},
                hint="scope='local'",
            )
        return 0.0 if scope == "local" else float("inf")
    return float(checks.positive("bound", scope=scope))


def check_smoothing(smoothing: Any) -> float:
    """Return a smoothing parameter as a float."""
    return float(checks.positive("bound", smoothing=smoothing))
