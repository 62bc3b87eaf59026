"""How one number becomes a report: the noise, the bound that scales it, the lattices, and the promise.

`Mechanism.choose` takes public numbers only. `draw` is the closed room: it reads points and returns lattice
integers that are exactly rounded draws. What one report promises is proved in docs/proofs/geo_mechanisms.md, the
float allowance in docs/proofs/geo_numerics.md. Reports about many places at once are in `blocks.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.errors import ParameterError, Unsupported
from sordino.geo.head import Headed
from sordino.geo.kernel_density import KernelDensity
from sordino.geo.lattice import PointLattice
from sordino.geo.logarithm import Logarithmic
from sordino.geo.query import Query
from sordino.geo.reference import Sphere, reference_from
from sordino.lattice import Lattice, ceil_log2
from sordino.noise import Calibration
from sordino.privacy import Geo

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sordino.exact.bits import Bits

NOISES = ("polyplace", "laplace-pareto", "student-t", "generalized-cauchy", "laplace")
#: Shares of the loss per metre that go to the smoothing by default; fixed before any data, spec of the proofs page.
SMOOTHING = {"polyplace": Fraction(1, 4), "laplace-pareto": Fraction(3, 10)}
_OTHER = Fraction(1, 9)
#: The output lattice has about 2^24 points across the range of values or one unit of noise, whichever is larger.
_OUTPUT_BITS = 24
_LARGEST_MARGIN = Fraction(1, 1024)
_CHUNK = 1 << 14  # fits the cache


@dataclass(frozen=True, slots=True)
class QueryMechanism(Headed):
    """A query with noise fitted to it and to a promise; made by `choose`, without data.

    Attributes:
        query: The question.
        price: The promise of one report.
        delta: Zero, or the probability left out of an approximate promise.
        calibration: The noise and its scale per unit of the bound.
        scope: Which bound scales the noise: local, global, or lipschitz (a constant).
        grid: The public lattice of reported values.
        lattice: The public lattice of points.
        margin: Share of the price set aside for the rounding of floats.
        asked: The smoothing that was asked for, None for the default.
        reference: Where the map lies on the ground; None for numbers that are distances already.
    """

    query: Query
    price: Geo
    delta: Fraction
    calibration: Calibration
    scope: str
    grid: Lattice
    lattice: PointLattice
    margin: Fraction
    asked: Fraction | None = None
    reference: Sphere | Logarithmic | None = None

    @classmethod
    def choose(
        cls,
        query: Query,
        price: Geo,
        *,
        noise: str | None = None,
        smoothing: Any = None,
        scope: str | None = None,
        delta: Any = 0,
        reference: Sphere | Logarithmic | None = None,
    ) -> QueryMechanism:
        """Fit noise to a query and a promise, from public numbers alone.

        Args:
            query: The question, about one place.
            price: What one report may reveal.
            noise: One of polyplace, laplace-pareto (plateau queries only), student-t, generalized-cauchy, laplace.
                By default laplace-pareto for plateau queries and polyplace for all others.
            smoothing: How fast the bound may change per metre; by default a fixed share of the loss per metre.
            scope: local (the default) or global.
            delta: Positive for an approximate promise; then Laplace noise with a bound of linear growth is used.
            reference: Where the map lies on the ground: part of the mechanism's name, and its stretch is paid for.

        Example:
            >>> from sordino.geo import Threshold
            >>> QueryMechanism.choose(Threshold(at=1e5, width=2e4), Geo(1, per=12_000)).calibration.noise
            LaplacePareto(alpha=3.33333)
        """
        _check(query, price)
        stretch = stretch_for(query, reference)
        if isinstance(query, KernelDensity) and len(query.at) > 1:
            raise Unsupported(
                query.name,
                "a mechanism answers about one place",
                got={"places": len(query.at)},
                hint="query.each() gives one query per place; geo.report answers many in blocks",
            )
        left_out = checks.between("geo", 0, 1, closed=True, delta=delta)
        default = "laplace" if left_out else "laplace-pareto" if query.plateau else "polyplace"
        name = default if noise is None else checks.one_of("geo", NOISES, noise=noise)
        if left_out and name != "laplace":
            raise Unsupported(
                "geo",
                "an approximate promise takes Laplace noise",
                got={"noise": name, "delta": left_out},
                hint="leave noise out, or delta=0",
            )
        if name == "laplace-pareto" and not query.plateau:
            raise Unsupported(
                "geo",
                f"laplace-pareto noise must not be used for {query.name}",
                got={"noise": name},
                why="This query moves where its bound changes; there the loss is nearly twice the price.",
                hint="noise='polyplace'",
            )
        scope = _scope(scope, name, query, left_out)
        lattice = PointLattice.for_query(query, price.rate)
        share = SMOOTHING.get(name, _OTHER) if not left_out else 1 / (2 * _logarithm(left_out))
        asked = None if smoothing is None else checks.positive("geo", smoothing=smoothing)
        gamma = price.rate * share if asked is None else asked
        margin = _margin(query, price, lattice, float(gamma), constant=scope == "lipschitz")
        exact = Geo(price.epsilon / (1 + margin) / stretch, price.per)
        if asked is None:
            gamma = gamma / (1 + margin) / stretch
        made = _calibrate(name, query, exact, gamma, left_out)
        widest = max(
            Fraction(query.curve.extremes[1]) - Fraction(query.curve.extremes[0]),
            Fraction(query.lipschitz) / price.rate,
        )
        grid = Lattice.dyadic(ceil_log2(widest) - _OUTPUT_BITS)
        return cls(query, price, left_out, made, scope, grid, lattice, margin, asked, reference)

    @property
    def smoothing(self) -> float:
        """The smoothing of the bound, per metre."""
        return float(self.calibration.smoothing)

    @property
    def growth(self) -> str:
        """How the bound may grow: exponentially, or linearly under an approximate promise."""
        return "linear" if self.delta else "exponential"

    @property
    def noise(self) -> str:
        """The family's name."""
        return self.calibration.noise.name

    @property
    def limit(self) -> int:
        """Largest |k| the collector accepts: an honest report is beyond it with probability below 2^-60."""
        tail = (
            float(self.calibration.noise.isf(2.0**-60)) * float(self.calibration.scale) * self.query.lipschitz
        )
        top = max(abs(edge) for edge in self.query.curve.extremes) + 2.0 * tail
        return int(min(2.0**61, ceil(top / float(self.grid.step))))

    def scales(self, points: ArrayLike) -> NDArray[np.float64]:
        """The noise scale at each point: private if the points are."""
        return self._read(self.query.points(points))[1]

    def variance(self, points: ArrayLike) -> NDArray[np.float64]:
        """The variance of a report at each point: private if the points are."""
        return self.scales(points) ** 2 * self.calibration.noise.variance

    def draw(self, points: ArrayLike, *, bits: Bits | None = None) -> NDArray[np.int64]:
        """Draw one report per point: multiples of the grid's step, exactly rounded. Closed room."""
        from sordino.exact.bits import Bits as Source
        from sordino.exact.sampler import draw_many

        at = self.query.points(points)
        source = Source() if bits is None else bits
        recipe = self.calibration.noise.recipe()
        codes = np.empty(at.shape[0], dtype=np.int64)
        for begin in range(0, codes.size, _CHUNK):
            part = slice(begin, begin + _CHUNK)
            values, scales = self._read(at[part])
            codes[part] = draw_many(recipe, locations=values, scales=scales, grid=self.grid, bits=source)
        return codes

    def _read(self, at: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values and noise scales at the lattice points."""
        curve, gamma = self.query.curve, self.smoothing
        unit = float(self.calibration.scale)
        with np.errstate(all="ignore"):
            u = self.query.coordinate(self.lattice.snap(at))
            if self.scope == "lipschitz":
                return curve.value(u), np.full(u.shape[0], curve.lipschitz * unit)
            if self.delta:
                bound = curve.bound(u, gamma, scope="global", growth="linear")
                np.maximum(bound, curve.floor * curve.lipschitz, out=bound)
                values = curve.value(u)
            else:
                values, bound = curve.both(u, gamma, floor=curve.floor, scope=self.scope)
            bound *= unit
            return values, bound

    def to_dict(self) -> dict[str, Any]:
        """Give a record of all public numbers, from which both ends make the same mechanism."""
        return {
            "query": self.query.to_dict(),
            "price": self.price.to_dict(),
            "delta": str(self.delta),
            "noise": self.noise,
            "smoothing": None if self.asked is None else str(self.asked),
            "scope": self.scope,
            "reference": None if self.reference is None else self.reference.to_dict(),
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> QueryMechanism:
        """Read what `to_dict` wrote."""
        price = Geo.from_dict(record["price"])
        scope = record["scope"]
        if not isinstance(price, Geo):
            raise ParameterError("geo", "price must be geo-private", got={"price": price})
        constant = scope == "lipschitz"
        return cls.choose(
            Query.from_dict(record["query"]),
            price,
            noise=record["noise"],
            smoothing=None if record["smoothing"] is None else Fraction(record["smoothing"]),
            scope=None if constant else scope,
            delta=Fraction(record["delta"]),
            reference=sphere_from(record["reference"]),
        )

    def __repr__(self) -> str:
        return f"Mechanism({self.query!r}, {self.price!r}, noise={self.noise!r}, scope={self.scope!r})"


def sphere_from(record: Any) -> Sphere | Logarithmic | None:
    """Read the reference of a mechanism's record."""
    if record is None:
        return None
    found = reference_from(record)
    assert isinstance(found, Sphere | Logarithmic)
    return found


def stretch_for(query: Query, reference: Sphere | Logarithmic | None) -> Fraction:
    """What the map may stretch distances by, and refuse a query that lies off the map."""
    if reference is None:
        return Fraction(1)
    if isinstance(reference, Logarithmic):
        if query.dimension != 1:
            raise ParameterError(
                "geo", "ratios belong to a query on a line", got={"dimension": query.dimension},
                hint="geo.Threshold(at=reference.coordinate(100_000), width=1)",
            )  # fmt: skip
        return reference.stretch
    if not isinstance(reference, Sphere) or query.dimension != 2:
        raise ParameterError(
            "geo",
            "a reference on the ground belongs to a query in the plane",
            got={"reference": reference, "dimension": query.dimension},
            hint="geo.Reference.around(longitude=-73.97, latitude=40.74, radius=50_000)",
        )
    if max(abs(place) for place in query.anchor) > reference.reach:
        raise ParameterError(
            "geo",
            "the query lies off the map",
            got={"at": query.anchor, "reach": reference.reach},
            why="Beyond its reach the map is folded, so that it is safe everywhere; nothing is told apart there.",
            hint="a reference whose centre is nearer to the query",
        )
    return reference.stretch


def _check(query: Any, price: Any) -> None:
    """Refuse what has no metric or no price."""
    if not isinstance(query, Query):
        raise ParameterError("geo", "query must be a query", got={"query": query}, hint="geo.Threshold(...)")
    if not isinstance(price, Geo):
        raise ParameterError(
            "geo",
            "price must be Geo",
            got={"price": price},
            why="In a metric space the promise is per distance.",
            hint="Geo(1, per=200)",
        )
    if price.epsilon == 0:
        raise ParameterError("geo", "price must be positive", got={"price": price}, hint="Geo(1, per=200)")


def _scope(scope: str | None, name: str, query: Query, delta: Fraction) -> str:
    """Choose the bound, and refuse the combinations without a proof."""
    if name == "laplace":
        wanted = "global" if delta else "lipschitz"
        if scope not in {None, wanted}:
            raise Unsupported(
                "geo",
                f"laplace noise takes the {wanted} bound here",
                got={"scope": scope},
                why="A local bound rests on adding up losses along a path, and a delta does not add up."
                if delta
                else "Its tail does not allow for a changing scale.",
                hint="leave scope out",
            )
        return wanted
    chosen = "local" if scope is None else checks.one_of("geo", ("local", "global"), scope=scope)
    if name == "laplace-pareto" and chosen != "local":
        raise Unsupported(
            "geo",
            "laplace-pareto noise takes the local bound",
            got={"scope": chosen},
            why=f"Only there does {query.name} stand still wherever its bound changes.",
            hint="scope='local', or noise='polyplace'",
        )
    return chosen


def _logarithm(delta: Fraction) -> Fraction:
    """max(1, log(1/delta)), rounded up a little; Liang and Yi 2024, Lemma 3.6, with the maximum its proof needs."""
    return Fraction(f"{max(1.0, -log(float(delta))) * (1 + 1e-12):.15g}")


def _calibrate(name: str, query: Query, price: Geo, gamma: Fraction, delta: Fraction) -> Calibration:
    """Ask the family for its scale; for an approximate promise use the corrected Lemma 3.6."""
    from sordino.noise import families

    family = families()[name]
    if name == "laplace" and delta:
        left = price.rate - gamma * _logarithm(delta)
        if left <= 0:
            raise Unsupported(
                "geo",
                "smoothing must leave something of the price for the shift",
                got={"smoothing": gamma, "delta": delta},
                hint=f"smoothing={float(price.rate / _logarithm(delta)) / 2:.3g}",
            )
        return Calibration(family(), gamma, 1 / left, price, "linear growth", "geo_mechanisms")
    if name == "laplace":
        return family.calibrate(price, smoothing=0)
    method = "plateau" if name == "laplace-pareto" and query.plateau else None
    return family.calibrate(price, smoothing=gamma, method=method)


def _margin(query: Query, price: Geo, lattice: PointLattice, gamma: float, *, constant: bool) -> Fraction:
    """The share of the price that pays for floats and for moving points to the lattice (proof: geo_numerics)."""
    curve = query.curve
    floor = 1.0 if constant else curve.floor
    far = curve.far(gamma, curve.floor)
    moved = query.coordinate_error(far, lattice.reach) + 2.0**-50 * far
    slack = curve.slack(gamma, floor)
    metres = 2 * moved + slack.value + (0.0 if constant else slack.bound + 2.0**-49 / gamma)
    floats = 2.0 * metres / lattice.step + 2.0**-48  # the last: constants, smoothing and scale as floats
    snapped = query.dimension**0.5 * lattice.step / float(price.per)
    total = Fraction(ceil(1.01 * (floats + snapped) * 2**40), 2**40)
    if total > _LARGEST_MARGIN:
        raise ParameterError(
            "geo",
            "the query is too fine or too wide for this price",
            got={"query": query, "price": price},
            why="The rounding of floats would cost a noticeable share of the privacy loss.",
            hint="a wider band or bandwidth, or coordinates nearer to the query's place",
        )
    return total
