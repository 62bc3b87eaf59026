"""How a user's own function of a point becomes a report: one number, or several with independent noise.

One output takes PolyPlace noise. Several take generalized Cauchy noise on each, scaled by one bound in the sum norm:
Corollary 3.2 of Liang and Yi (2024), with the joint cost of shift and scale on the coordinate where the shift is and
the cost of scale alone on the others. Proof: docs/proofs/geo_functions.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.errors import ParameterError, Unsupported
from sordino.geo.head import Headed
from sordino.geo.space_function import SpaceFunction
from sordino.lattice import Lattice, ceil_log2
from sordino.noise.generalized_cauchy import GeneralizedCauchy
from sordino.noise.polyplace import PolyPlace
from sordino.privacy import Geo

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.exact.bits import Bits
    from sordino.geo.lattice import PointLattice
    from sordino.noise import Calibration

NOISES = ("polyplace", "generalized-cauchy")
_OUTPUT_BITS = 24
_LARGEST_MARGIN = Fraction(1, 1024)
_CHUNK = 1 << 14


@dataclass(frozen=True, slots=True)
class FunctionMechanism(Headed):
    """A function of a point with noise fitted to it and to a promise; made by `choose`, without data.

    Attributes:
        query: The function.
        price: The promise of one report, all outputs together.
        calibration: The noise of each output and its scale per unit of the bound.
        grid: The public lattice of reported values.
        lattice: The public lattice of points; None on a finite set.
        margin: Share of the price set aside for the rounding of floats.
    """

    query: SpaceFunction
    price: Geo
    calibration: Calibration
    grid: Lattice
    lattice: PointLattice | None
    margin: Fraction

    @classmethod
    def choose(
        cls, query: SpaceFunction, price: Geo, *, noise: str | None = None, smoothing: Any = None
    ) -> FunctionMechanism:
        """Fit noise to a function and a promise, from public numbers alone.

        Args:
            query: The function, on a set or on a box.
            price: What one report may reveal, per unit of the function's distance.
            noise: polyplace (one output) or generalized-cauchy.
            smoothing: How fast the bound may change per unit of distance; by default a quarter of the loss per unit
                for polyplace and a ninth, shared by all outputs, for generalized-cauchy.

        Example:
            >>> from sordino.geo import FiniteMetric, FunctionOnSet
            >>> words = FiniteMetric.hamming(["00", "01", "10", "11"])
            >>> made = FunctionMechanism.choose(FunctionOnSet.of(lambda w: w == "11", words), Geo(1, per=1))
            >>> made.noise, made.query.outputs
            ('polyplace', 1)
        """
        if not isinstance(query, SpaceFunction) or not isinstance(price, Geo) or price.epsilon == 0:
            raise ParameterError(
                "geo", "a function on a set or a box and a positive Geo price are needed",
                got={"query": type(query).__name__, "price": price}, hint="Geo(1, per=1)",
            )  # fmt: skip
        several = query.outputs > 1
        name = ("generalized-cauchy" if several else "polyplace") if noise is None else noise
        checks.one_of("geo", NOISES, noise=name)
        if several and name == "polyplace":
            raise Unsupported(
                "geo", "several outputs take generalized-cauchy noise", got={"outputs": query.outputs},
                why="On PolyPlace's tail a change of scale alone costs the whole price, on every output.",
                hint="leave noise out",
            )  # fmt: skip
        share = Fraction(1, 4) if name == "polyplace" else Fraction(1, 9 * query.outputs)
        asked = None if smoothing is None else checks.positive("geo", smoothing=smoothing)
        lattice = query.lattice(price.rate)
        margin = _margin(query, price, lattice, float(price.rate * share if asked is None else asked))
        exact = Geo(price.epsilon / (1 + margin), price.per)
        gamma = exact.rate * share if asked is None else asked
        made = (
            PolyPlace.calibrate(exact, smoothing=gamma)
            if name == "polyplace"
            else vector_noise(exact, gamma, query.outputs)
        )
        low, high = query.extremes
        widest = max(Fraction(float(np.max(high - low))), Fraction(query.lipschitz) / price.rate)
        return cls(query, price, made, Lattice.dyadic(ceil_log2(widest) - _OUTPUT_BITS), lattice, margin)

    @property
    def noise(self) -> str:
        """The family's name."""
        return self.calibration.noise.name

    @property
    def smoothing(self) -> float:
        """Of the bound, per unit of distance."""
        return float(self.calibration.smoothing)

    @property
    def reference(self) -> None:
        """None: the points are as the function takes them."""
        return None

    def variance(self, points: Any) -> NDArray[np.float64]:
        """The variance of each output of a report, at each point: private if the points are."""
        return self._read(self.query.points(points))[1] ** 2 * self.calibration.noise.variance

    def draw(self, points: Any, *, bits: Bits | None = None) -> NDArray[np.int64]:
        """Draw one report per point: multiples of the grid's step, shape (n,) or (n, outputs). Closed room."""
        from sordino.exact.bits import Bits as Source
        from sordino.exact.sampler import draw_many

        at = self.query.points(points)
        source = Source() if bits is None else bits
        recipe = self.calibration.noise.recipe()
        codes = np.empty((len(at), self.query.outputs), dtype=np.int64)
        for begin in range(0, len(at), _CHUNK):
            values, scales = self._read(at[begin : begin + _CHUNK])
            drawn = draw_many(
                recipe,
                locations=values.ravel(),
                scales=np.repeat(scales, values.shape[1]),
                grid=self.grid,
                bits=source,
            )
            codes[begin : begin + _CHUNK] = drawn.reshape(values.shape)
        return codes[:, 0] if self.query.outputs == 1 else codes

    def _read(self, at: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values and noise scales."""
        with np.errstate(all="ignore"):
            moved = at if self.lattice is None else self.lattice.snap(at)
            values, bound = self.query.value_and_bound(moved, self.smoothing)
            return values, bound * float(self.calibration.scale)

    def to_dict(self) -> dict[str, Any]:
        """Give a record of all public numbers."""
        return {
            "query": self.query.to_dict(),
            "price": self.price.to_dict(),
            "noise": self.calibration.noise.to_dict(),
            "smoothing": str(self.calibration.smoothing),
        }

    def __repr__(self) -> str:
        return f"FunctionMechanism({self.query!r}, {self.price!r}, noise={self.noise!r})"


@lru_cache(maxsize=64)
def vector_noise(price: Geo, smoothing: Fraction, outputs: int) -> Calibration:
    """Generalized Cauchy noise for every output of a vector, of the smallest variance that a search finds.

    The coordinate that is shifted pays for shift and scale together, the others max(1, p theta - 1) times the smoothing
    each: Corollary 3.2 with the joint cost instead of the sum of the largest ones.

    Example:
        >>> one, three = (vector_noise(Geo(1, per=1), Fraction(1, 27), m) for m in (1, 3))
        >>> one.std < three.std
        True
    """
    best: tuple[float, Fraction, Fraction] | None = None
    rate, gamma = float(price.rate), float(smoothing)
    for p in (Fraction(k, 20) for k in (22, 24, 27, 30, 35, 40, 50, 60, 80)):
        for tail in np.linspace(2.05, 12.0, 80):
            theta = Fraction(f"{(1 + tail) / float(p):.4f}")
            noise = GeneralizedCauchy(p, theta)
            left = rate - (outputs - 1) * gamma * max(1.0, float(p * theta) - 1)
            if float(p * theta) <= 3 or left <= gamma * max(1.0, float(p * theta) - 1):
                continue
            shift = noise._float_best_shift(left, gamma, "joint")
            if shift > 0 and (best is None or noise.std / shift < best[0]):
                best = noise.std / shift, p, theta
    if best is None:
        raise Unsupported(
            "geo", "smoothing is too large for so many outputs", got={"smoothing": smoothing, "outputs": outputs},
            why="A change of scale is paid for once per output.", hint=f"smoothing={rate / (9 * outputs):.3g}",
        )  # fmt: skip
    _, p, theta = best
    left_over = price.rate - (outputs - 1) * smoothing * max(Fraction(1), p * theta - 1)
    return GeneralizedCauchy.calibrate(
        Geo(left_over * price.per, price.per), smoothing=smoothing, p=p, theta=theta
    )


def _margin(query: SpaceFunction, price: Geo, lattice: PointLattice | None, gamma: float) -> Fraction:
    """The share of the price that pays for floats and for moving points to the lattice (proof: geo_numerics)."""
    slack = query.slack(gamma)
    lengths = slack.value + slack.bound + 2.0**-49 / gamma
    least = lattice.step if lattice is not None else query.metric.least  # type: ignore[attr-defined]
    snapped = 0.0
    if lattice is not None:
        snapped = query.dimension**0.5 * lattice.step / float(price.per)  # type: ignore[attr-defined]
        lengths += 2.0**-49 * lattice.reach
    total = Fraction(ceil(1.01 * (2.0 * lengths / least + 2.0**-42 + snapped) * 2**40), 2**40)
    if total > _LARGEST_MARGIN:
        raise ParameterError(
            "geo", "the function is too fine or too wide for this price", got={"query": query, "price": price},
            why="The rounding of floats would cost a noticeable share of the privacy loss.",
            hint="values and coordinates nearer to zero, or a larger distance of loss one",
        )  # fmt: skip
    return total
