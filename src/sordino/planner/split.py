"""`plan_budget`: how to share one budget among several statistics, before data are touched.

Shares are chosen on generated tables so that the largest ratio of privacy error to what is wanted of each statistic is
as small as possible; the prices add up to the budget as a session adds them. The report is `BudgetPlan`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.errors import ParameterError, SordinoError, Unsupported
from sordino.planner.budget_plan import BudgetPlan, Line
from sordino.planner.inverse import expected_error
from sordino.planner.planning import plan
from sordino.planner.trial import Trial
from sordino.privacy import Guarantee
from sordino.statistics import Statistic

if TYPE_CHECKING:
    from sordino.privacy import Neighbors

    Curve = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]

SHARES = 1000  # prices are whole thousandths of the budget
TRIED = (1.0, 1 / 3, 1 / 10, 1 / 40)
LEAST = 0.002
CLOSE = 0.01  # without a sampling error, an error of one per cent of the value is taken as wanted


@checks.explained("sd.plan_budget")
def plan_budget(
    statistics: Sequence[Statistic],
    budget: Guarantee,
    *,
    rows: int | None = None,
    errors: Sequence[float | None] | None = None,
    assume: Any = None,
    hints: Sequence[Mapping[str, Any]] | None = None,
    neighbors: Neighbors | None = None,
    tables: int | None = None,
    draws: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> BudgetPlan:
    """Propose how to share a budget among several statistics, with the error to expect of each.

    The split makes the largest ratio of the privacy error to the wanted error as small as possible, so every answer is
    equally good by its own measure. Where no error is wanted of a statistic, its sampling error is its measure: how
    much it varies between samples anyway. Where it does not vary, one per cent of its value is.

    Args:
        statistics: What would be asked, all of the same people.
        budget: What it may cost in all: `Pure`, `Concentrated` or `Approx`.
        rows: How many rows the data have, roughly.
        errors: The root mean square error that is wanted of each, or None for some of them.
        assume: What the data may look like, as for `plan`; a list of such, one for each statistic, is taken too.
        hints: Public options of each release: ``{"tight": True}``.
        neighbors: Which datasets the promise compares; the statistics' own by default.
        tables: As for `plan`.
        draws: As for `plan`.
        seed: As for `plan`.
        progress: Is called with the steps done and the steps in all.

    Example:
        >>> from sordino.privacy import Pure
        >>> from sordino.statistics.count_above import CountAbove
        >>> from sordino.statistics.trimmed_mean import TrimmedMean
        >>> pay = TrimmedMean("pay", trim=0.1, low=0, high=1000)
        >>> found = plan_budget([pay, CountAbove("pay", threshold=100)], Pure(1), rows=500, tables=2)
        >>> found.total == Pure(1), found.worst.ratio < 1.5 * min(line.ratio for line in found.lines)
        (True, True)
    """
    asked, wanted, shapes, options = _checked(statistics, budget, errors, assume, hints)
    given: dict[str, Any] = {"neighbors": neighbors, "seed": seed}
    few = {"tables": min(tables or 4, 4), "draws": min(draws or 16, 16)}
    steps = len(asked) * (len(TRIED) + 2)
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(min(done, steps), steps)

    curves: list[Curve] = []
    measures: list[float] = []
    sampling: list[float] = []
    for one, shape, extra, target in zip(asked, shapes, options, wanted, strict=True):
        whole = plan(
            one, budget, rows=rows, assume=shape, only_default=True, tables=few["tables"], draws=few["draws"],
            **given, **extra,
        )  # fmt: skip
        sampling.append(whole.sampling_error)
        measures.append(target or whole.sampling_error or CLOSE * _usual_value(whole))
        points = [(1.0, whole.default.rms)]
        step()
        for part in TRIED[1:]:
            error = _error(one, budget.share(_exact(part)), rows, shape, {**given, **few, **extra})
            if error is not None:
                points.append((part, error))
            step()
        curves.append(_curve(points))
    # The curves are rough; what the errors really are at the proposed shares sets them right once.
    better = {"tables": min(tables or 8, 8), "draws": min(draws or 120, 120)}
    for place, part in enumerate(_balanced(curves, measures)):
        shown = {**given, **better, **options[place]}
        error = _error(asked[place], budget.share(_exact(part)), rows, shapes[place], shown)
        if error:
            levels, logs = curves[place]
            curves[place] = levels, logs + math.log(error / _at(curves[place], part))
        step()
    shares = _rounded(_balanced(curves, measures))
    lines = []
    for place, (one, shape, extra) in enumerate(zip(asked, shapes, options, strict=True)):
        price = budget.share(shares[place])
        found = plan(
            one,
            price,
            rows=rows,
            assume=shape,
            only_default=True,
            tables=tables,
            draws=draws,
            **given,
            **extra,
        )
        even = (
            _at(curves[place], 1 / len(asked)) * found.default.rms / _at(curves[place], float(shares[place]))
        )
        lines.append(
            Line(
                statistic=one,
                share=shares[place],
                price=price,
                option=found.default,
                plan=found,
                sampling_error=sampling[place],
                wanted=wanted[place],
                measure=measures[place],
                even=even,
            )
        )
        step()
    return BudgetPlan(budget=budget, rows=rows, lines=tuple(lines), seed=seed)


def balanced_shares(
    errors: Sequence[Sequence[tuple[float, float]]], measures: Sequence[float]
) -> list[Fraction]:
    """Shares that make the largest ratio of error to measure as small as possible, in whole thousandths.

    Args:
        errors: For each answer some shares of the budget with the error that each leaves.
        measures: What each error is compared with.

    Example:
        >>> [float(one) for one in balanced_shares([[(1.0, 1.0), (0.1, 10.0)], [(1.0, 3.0), (0.1, 30.0)]], [1, 1])]
        [0.251, 0.749]
    """
    return _rounded(_balanced([_curve(list(points)) for points in errors], list(measures)))


def _checked(
    statistics: Any, budget: Any, errors: Any, assume: Any, hints: Any
) -> tuple[list[Statistic], list[float | None], list[Any], list[dict[str, Any]]]:
    """Bring everything to one entry per statistic, or say what is wrong."""
    asked = list(statistics) if isinstance(statistics, Sequence) else []
    if not asked or not all(isinstance(one, Statistic) for one in asked):
        raise ParameterError(
            "plan budget", "the first argument is a list of statistics",
            got={"statistics": type(statistics).__name__},
            why="A plan never reads private data, so it takes no session, source or file.",
            hint='sd.plan_budget([sd.Count("x"), sd.Mean("x", low=0, high=100)], sd.Pure(3), rows=20_000)',
        )  # fmt: skip
    if not isinstance(budget, Guarantee) or not budget.noise_targets or not budget.added:
        raise Unsupported(
            "plan budget", "shares pure, concentrated and approximate budgets", got={"budget": budget},
            why="Parts of other promises do not add up to them.", hint="sd.Pure(3)",
        )  # fmt: skip
    if len({one.neighbors for one in asked} & {one for kind in asked for one in kind.relations}) > 1:
        relations = sorted({one.neighbors.value for one in asked})
        if "edge" in relations:
            raise Unsupported(
                "plan budget", "statistics of rows and of edges do not share a budget",
                got={"neighbors": ", ".join(relations)},
                why="Their promises compare different neighbours.", hint="one budget for each",
            )  # fmt: skip
    count = len(asked)
    wanted = [None] * count if errors is None else list(errors)
    several = isinstance(assume, list | tuple) and len(assume) == count and not np.isscalar(assume[0])
    texts = isinstance(assume, list | tuple) and all(isinstance(one, str | None) for one in assume)
    shapes = list(assume) if several or texts else [assume] * count
    options = [{} for _ in asked] if hints is None else [dict(one) for one in hints]
    for name, entries in (("errors", wanted), ("assume", shapes), ("hints", options)):
        if len(entries) != count:
            raise ParameterError(
                "plan budget", f"there must be one entry of {name} per statistic",
                got={"statistics": count, name: len(entries)},
            )  # fmt: skip
    targets = [None if one is None else float(checks.positive("plan budget", error=one)) for one in wanted]
    return asked, targets, shapes, options


def _error(
    statistic: Statistic, price: Guarantee, rows: int | None, shape: Any, options: dict[str, Any]
) -> float | None:
    """The expected error, or None where the price is too small for any theorem."""
    try:
        return expected_error(statistic, price, rows=rows, assume=shape, **options)
    except SordinoError:
        return None


def _usual_value(whole: Any) -> float:
    """The size of the statistic on a generated table."""
    return usual_value(Trial(whole.statistic, whole.assumed, rows=whole.rows, seed=whole.seed))


def usual_value(trial: Trial) -> float:
    """The size of a statistic on the first table of a trial."""
    values = np.abs(np.atleast_1d(np.asarray(trial._floats(trial.truth(0)), dtype=float)))
    return float(values.max()) or 1.0


def _curve(points: list[tuple[float, float]]) -> Curve:
    """Logarithms of shares (rising) and of errors, made to fall steadily."""
    ordered = sorted(points)
    shares = np.log([share for share, _ in ordered])
    errors = np.log(np.maximum([error for _, error in ordered], 1e-300))
    return shares, np.minimum.accumulate(errors)


def _at(curve: Curve, part: float) -> float:
    """The error at a share: between the points by a power law, beyond them by that of the nearest two."""
    shares, errors = curve
    where = math.log(part)
    if where < shares[0]:
        slope = (errors[1] - errors[0]) / (shares[1] - shares[0]) if len(shares) > 1 else -1.0
        return math.exp(float(errors[0] + min(slope, -0.5) * (where - shares[0])))
    return math.exp(float(np.interp(where, shares, errors)))


def _balanced(curves: list[Curve], measures: list[float]) -> list[float]:
    """Shares that add up to one and make the largest ratio of error to measure as small as possible.

    Every error falls with its share, so at the best level each statistic has just the share that brings it there.
    """

    def enough(place: int, level: float) -> float:
        low, high = LEAST, 1.0
        for _ in range(40):
            middle = math.sqrt(low * high)
            fine = _at(curves[place], middle) / measures[place] <= level
            low, high = (low, middle) if fine else (middle, high)
        return high

    low, high = 1e-12, 1e12
    for _ in range(100):
        level = math.sqrt(low * high)
        total = sum(enough(place, level) for place in range(len(curves)))
        low, high = (low, level) if total <= 1 else (level, high)
    found = [enough(place, high) for place in range(len(curves))]
    return [part / sum(found) for part in found]


def _rounded(parts: list[float]) -> list[Fraction]:
    """Whole thousandths, at least one each, that add up to one: the largest remainders are rounded up."""
    count = SHARES * max(1, math.ceil(len(parts) / 100))
    spare = count - len(parts)
    exact = [1 + part * spare for part in parts]
    whole = [math.floor(one) for one in exact]
    rest = sorted(range(len(parts)), key=lambda place: whole[place] - exact[place])
    for place in rest[: count - sum(whole)]:
        whole[place] += 1
    return [Fraction(one, count) for one in whole]


def _exact(part: float) -> Fraction:
    return max(Fraction(part).limit_denominator(10_000), Fraction(1, 10_000))
