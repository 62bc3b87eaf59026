"""What to expect before anything is collected: the error of every mechanism for an assumed density of people.

The density is generated or public; no private point is read here. Errors are exact expectations over the assumed
points, for the estimate of the mean answer of a given number of people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.errors import ParameterError, Unsupported
from sordino.geo import baseline
from sordino.geo.blocks import BlockMechanism
from sordino.geo.kernel_density import KernelDensity
from sordino.geo.mechanism import QueryMechanism
from sordino.geo.point_planning import one_report_error
from sordino.geo.reporting import mechanism_for

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sordino.geo.query import Query
    from sordino.privacy import Geo

ONE_REPORT = "one report of the point"
DENSITIES = ("normal", "log-normal", "uniform", "city")


@dataclass(frozen=True, slots=True)
class Expectation:
    """The expected error of one mechanism.

    Attributes:
        mechanism: Its name.
        noise: Standard deviation that the privacy adds to the estimate.
        bias: Mean error that no number of people removes.
        error: Root mean squared error of noise and bias together.
        promise: Geo, or local differential privacy for comparison.
    """

    mechanism: str
    noise: float
    bias: float
    error: float
    promise: str


def plan(query: Query, price: Geo, points: ArrayLike, *, users: int) -> tuple[Expectation, ...]:
    """Rank mechanisms by their expected error, for assumed points and a number of people.

    Args:
        query: The question.
        price: The promise of one report.
        points: Assumed points, generated or public: see `assume`.
        users: How many people will report.

    Example:
        >>> from sordino.geo import Threshold
        >>> from sordino.privacy import Geo
        >>> incomes = assume("log-normal", 1, centre=(11.494,), spread=0.829)
        >>> rows = plan(Threshold(at=1e5, width=2e4), Geo(1, per=12_000), incomes, users=400_000)
        >>> rows[0].mechanism, rows[0].error < rows[1].error
        ('one report of the point', True)
    """
    checks.whole("plan", at_least=1, users=users)
    if isinstance(query, KernelDensity) and len(query.at) > 1:
        return _plan_blocks(query, price, users)
    at = query.points(points)
    rows = []
    for name, options in _choices(query):
        made = QueryMechanism.choose(query, price, **options)
        variance = float(made.variance(at).mean()) / users
        rows.append(Expectation(name, variance**0.5, 0.0, variance**0.5, "geo"))
    variance = float(baseline.noise_variance("M3", query, at, price).mean()) / users
    rows.append(Expectation("student-t, published (M3)", variance**0.5, 0.0, variance**0.5, "geo"))
    rows.append(_moved_points("M0", "moved points (M0)", query, price, at, users))
    answered = one_report_error(query, price, at, users=users)
    if answered is not None:
        noise, bias = answered
        rows.append(Expectation(ONE_REPORT, noise, bias, (noise**2 + bias**2) ** 0.5, "geo, every question"))
    if isinstance(query, KernelDensity):
        rows.append(_moved_points("M1", "moved distance (M1)", query, price, at, users))
    variance = float(baseline.noise_variance("LDP", query, at, price).mean()) / users
    words = f"local DP, epsilon {float(price.epsilon):g}"
    rows.append(Expectation("laplace, local DP", variance**0.5, 0.0, variance**0.5, words))
    return tuple(sorted(rows, key=lambda row: row.error))


def _choices(query: Query) -> list[tuple[str, dict[str, Any]]]:
    names: list[tuple[str, dict[str, Any]]] = [
        ("polyplace", {"noise": "polyplace"}),
        ("polyplace, global bound", {"noise": "polyplace", "scope": "global"}),
        ("student-t", {"noise": "student-t"}),
        ("generalized-cauchy", {"noise": "generalized-cauchy"}),
        ("laplace (M2)", {"noise": "laplace"}),
    ]
    if query.plateau:
        names.insert(0, ("laplace-pareto", {"noise": "laplace-pareto"}))
    return names


def _moved_points(
    name: str, words: str, query: Query, price: Geo, at: NDArray[np.float64], users: int
) -> Expectation:
    some = at[:: max(1, at.shape[0] // 4000)]
    shift, spread = baseline.expected_bias(name, query, some, price)
    bias, noise = float(shift.mean()), float(max(spread.mean(), 0.0) / users) ** 0.5
    return Expectation(words, noise, bias, (bias**2 + noise**2) ** 0.5, "geo")


def _plan_blocks(query: KernelDensity, price: Geo, users: int) -> tuple[Expectation, ...]:
    """One report about many places: blocks against the same with one block, and one price share per place."""
    made = mechanism_for(query, price)
    assert isinstance(made, BlockMechanism)
    rate = float(price.rate)
    noise = (len(made.blocks) * made.variance() / users) ** 0.5
    share = (2.0 / users) ** 0.5 * query.lipschitz * len(query.at) / rate
    rows = [
        Expectation(f"laplace, {len(made.blocks)} blocks", noise, 0.0, noise, "geo"),
        Expectation("laplace, price split over the places", share, 0.0, share, "geo"),
    ]
    return tuple(sorted(rows, key=lambda row: row.error))


def assume(
    kind: str, dimension: int, *, centre: Any = None, spread: float = 1.0, count: int = 20_000, seed: int = 7
) -> NDArray[np.float64]:
    """Generate assumed points: normal, log-normal (centre and spread of the logarithms), uniform, or a city.

    A city is a mixture of 25 hot spots of different weights and widths within `spread` of the centre.
    """
    checks.one_of("assume", DENSITIES, kind=kind)
    checks.whole("assume", at_least=1, dimension=dimension)
    width = float(checks.positive("assume", spread=spread))
    middle = np.zeros(dimension) if centre is None else np.asarray(centre, dtype=np.float64)
    if middle.shape != (dimension,):
        raise ParameterError("assume", "centre must have one number per coordinate", got={"centre": centre})
    rng = np.random.default_rng(seed)
    shape = (checks.whole("assume", at_least=1, count=count), dimension)
    if kind == "normal":
        points = middle + width * rng.standard_normal(shape)
    elif kind == "log-normal":
        if float(np.max(np.abs(middle))) + 6 * width > 300:
            raise ParameterError(
                "assume",
                "centre and spread of a log-normal density are those of the logarithms, not distances",
                got={"centre": centre, "spread": spread},
                hint="centre=11.5, spread=0.8 for incomes around 100,000",
            )
        points = np.exp(middle + width * rng.standard_normal(shape))
    elif kind == "uniform":
        points = middle + width * rng.uniform(-1.0, 1.0, shape)
    else:
        if dimension != 2:
            raise Unsupported("assume", "a city is flat", got={"dimension": dimension}, hint="kind='normal'")
        spots = rng.normal(0.0, 0.45, (25, 2))
        weights = rng.dirichlet(np.full(25, 1.5))
        widths = rng.uniform(0.03, 0.16, 25)
        which = rng.choice(25, size=shape[0], p=weights)
        points = middle + width * (spots[which] + widths[which, None] * rng.standard_normal(shape))
    return points[:, 0] if dimension == 1 else points
