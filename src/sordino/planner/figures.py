"""The two pictures of a plan: densities of likely answers, and the error against the price.

Everything is worked out again on generated columns; colours and dashes come from `sordino.plots`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import SordinoError
from sordino.mechanisms.parts.error_law import ErrorLaw, ShortfallLaw
from sordino.planner.candidate import Candidate, candidates
from sordino.planner.limit import least_error
from sordino.planner.planning import tried
from sordino.planner.trial import Trial

if TYPE_CHECKING:
    from sordino.planner.report import Plan
    from sordino.privacy import Guarantee

FACTORS = (Fraction(1, 8), Fraction(1, 3), Fraction(1), Fraction(3), Fraction(8))
SHOWN = 4  # options in a picture: the default and the best others
TABLES, DRAWS = 3, 32
CLIPS = 24  # simulated clipping intervals behind a density
CELLS = 161
COARSE = 50  # a cell of fewer steps of the grid is made of whole ones
BINS = 41
TICKS = 8
SIMULATED = 240  # answers behind a simulated picture


def shown_names(plan: Plan) -> list[str]:
    """The default, the best other options, and the best with a fixed scale for comparison."""
    names = [plan.default.name, *(one.name for one in plan.options if not one.default)][:SHOWN]
    fixed = [one.name for one in plan.options if not one.adaptive and one.name not in names]
    return [*names, *fixed[:1]]


def amount(price: Any) -> float:
    """The main number of a price."""
    return float(price.rho if hasattr(price, "rho") else price.epsilon)


def error_curves(plan: Plan) -> dict[str, tuple[list[float], list[float]]]:
    """Root mean square error of the shown options at prices around the plan's own.

    How the error falls with the price is tried on few tables, the same at every price; how large it is, the plan knows
    from many, so every curve goes through the plan's own figure.

    Example:
        >>> from sordino.privacy import Pure
        >>> from sordino.planner import plan
        >>> from sordino.statistics.count import Count
        >>> curves = error_curves(plan(Count("x"), Pure(1), rows=100, tables=1))
        >>> prices, errors = curves["laplace (global)"]
        >>> len(prices), errors[0] > errors[-1]
        (5, True)
    """
    curves: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in shown_names(plan)}
    for factor in FACTORS:
        price = plan.price.scaled(factor)
        try:
            found = _candidates(plan, price)
        except SordinoError:
            continue
        trial = Trial(found[0].part.statistic, plan.assumed, rows=plan.rows, seed=plan.seed)
        for candidate in found:
            # The default may change its name with the price; its curve goes on.
            name = plan.default.name if candidate.default else candidate.name
            if name in curves and (candidate.default or name != plan.default.name):
                prices, errors = curves[name]
                prices.append(amount(price))
                errors.append(tried(candidate, trial, tables=TABLES, draws=DRAWS).rms)
    known = {option.name: option.rms for option in plan.options}
    for name, (prices, errors) in curves.items():
        here = dict(zip(prices, errors, strict=True)).get(amount(plan.price), 0.0)
        if 0 < here < math.inf and known[name] < math.inf:
            errors[:] = [error * known[name] / here for error in errors]
    return curves


def answer_densities(plan: Plan) -> tuple[np.ndarray[Any, Any], dict[str, np.ndarray[Any, Any]], float]:
    """Middles of cells, the density of the answer in each per shown option with a law, and the truth."""
    found = _candidates(plan, plan.price)
    trial = Trial(found[0].part.statistic, plan.assumed, rows=plan.rows, seed=plan.seed)
    laws: dict[str, list[ErrorLaw]] = {}
    for candidate in found:
        if candidate.name in shown_names(plan) and not candidate.part.statistic.vector:
            some = trial.laws(candidate.part, tables=1, draws=CLIPS) or ()
            own = [law for law in some if isinstance(law, ErrorLaw)]
            if own:
                laws[candidate.name] = own
    if not laws:
        return np.empty(0), {}, 0.0
    truth = float(next(iter(laws.values()))[0].truth)
    reach = 1.5 * max(plan.default.most, plan.default.rms) or 1.0
    step = max((law.step or 0.0 for some in laws.values() for law in some), default=0.0)
    if step * CELLS * COARSE > 2 * reach:  # cells of whole steps, or points would fall unevenly into them
        width = step * max(1, round(2 * reach / (CELLS * step)))
        around = math.ceil(reach / width)
        edges = truth + width * (np.arange(-around, around + 2) - 0.5)
    else:
        edges = np.linspace(truth - reach, truth + reach, CELLS)
    densities = {
        name: np.mean([np.diff([law.at_most(float(edge)) for edge in edges]) for law in some], axis=0)
        / np.diff(edges)
        for name, some in laws.items()
    }
    return (edges[1:] + edges[:-1]) / 2, densities, truth


def limit_curve(plan: Plan) -> tuple[list[float], list[float]]:
    """The least error of any mechanism at prices around the plan's own; empty where none is proved."""
    if plan.limit is None:
        return [], []
    prices, errors = [], []
    for factor in FACTORS:
        price = plan.price.scaled(factor)
        try:
            (default,) = _candidates(plan, price, only_default=True)
        except SordinoError:
            continue
        trial = Trial(default.part.statistic, plan.assumed, rows=plan.rows, seed=plan.seed)
        found = least_error(default.part, trial, price)
        if found is not None:
            prices.append(amount(price))
            errors.append(found.error)
    return prices, errors


def _answers(axes: Any, plan: Plan, looks: dict[str, dict[str, Any]]) -> None:
    """The left picture: densities of answers, chances of keys, or simulated errors where no law is known."""
    middles, densities, truth = answer_densities(plan)
    axes.set(xlabel=f"answer ({plan.statistic.name}, generated data)", ylabel="density")
    if densities:
        for name, look in looks.items():
            if name in densities:
                axes.plot(middles, densities[name], drawstyle="steps-mid", **look)
        axes.axvline(truth, color="#666666", linewidth=1)
        axes.set_title("Likely answers; the line is the truth")
        axes.set_ylim(bottom=0)
        return
    found = _candidates(plan, plan.price)
    trial = Trial(found[0].part.statistic, plan.assumed, rows=plan.rows, seed=plan.seed)
    laws = trial.laws(found[0].part, tables=1, draws=2)
    if laws and isinstance(laws[0], ShortfallLaw):
        law, keys = laws[0], [str(key) for key in plan.statistic.keys]  # type: ignore[attr-defined]
        axes.bar(keys, law.chances, color=looks[plan.default.name]["color"])
        axes.set(xlabel=f"{plan.statistic.name} (generated data)", ylabel="probability")
        axes.set_title(f"Likely answers; the truth is {keys[int(np.argmin(law.gaps))]}")
        return
    for candidate in found:
        if candidate.name in looks:
            errors = trial.errors(candidate.part, draws=SIMULATED, tables=4).ravel()
            heights, edges = np.histogram(errors, bins=_bins(1.5 * plan.default.most or 1.0, errors))
            share = heights / len(errors) / np.diff(edges)
            axes.plot((edges[1:] + edges[:-1]) / 2, share, drawstyle="steps-mid", **looks[candidate.name])
    axes.axvline(0, color="#666666", linewidth=1)
    axes.set(xlabel=f"error ({plan.statistic.name}, generated data)")
    axes.set_title("Simulated errors; the line is not an error")
    axes.set_ylim(bottom=0)


def _bins(reach: float, errors: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Edges of about forty cells; around whole numbers where errors are such.

    Example:
        >>> _bins(2.0, np.array([1.0, -3.0])).tolist()
        [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]
    """
    if np.array_equal(errors, np.rint(errors)):
        width = max(1, round(2 * reach / BINS))
        around = math.ceil(reach / width)
        return width * (np.arange(-around, around + 2) - 0.5)
    return np.linspace(-reach, reach, BINS + 1)


def plain_ticks(axes: Any, values: Iterable[float]) -> None:
    """A logarithmic axis with ticks at some of its values, in plain numbers: the usual minor ones run together."""
    from sordino.planner.report import short

    known = sorted(set(values))
    shown = known[:: math.ceil(len(known) / TICKS)]
    axes.set_xscale("log")
    axes.set_xticks(shown, [short(value) for value in shown])
    axes.set_xticks([], minor=True)


def picture(plan: Plan) -> Any:
    """Draw both pictures beside each other."""
    from sordino import plots

    curves = error_curves(plan)
    kind = "rho" if hasattr(plan.price, "rho") else "epsilon"
    with plots.style() as plt:
        figure, (left, right) = plt.subplots(1, 2, figsize=(10.4, 4.2))
        looks = dict(zip(shown_names(plan), plots.lines(), strict=False))
        _answers(left, plan, looks)
        for name, look in looks.items():
            prices, errors = curves.get(name, ([], []))
            right.plot(prices, errors, label=name, **look)
        if plan.sampling_error > 0:
            right.axhline(plan.sampling_error, color="#666666", linewidth=1, linestyle=(0, (1, 2)),
                          label="sampling error, no privacy")  # fmt: skip
        prices, errors = limit_curve(plan)
        if prices and plan.limit is not None and plan.limit.error <= plan.default.rms:
            right.plot(prices, errors, color="#999999", linewidth=1, marker="^", markersize=4,
                       label="least error of any mechanism (proved)")  # fmt: skip
        price = amount(plan.price)
        right.plot([price], [plan.default.rms], marker="o", markersize=8, color="#000000", linestyle="",
                   label="this plan")  # fmt: skip
        right.set(xlabel=kind, ylabel="root mean square error")
        plain_ticks(right, [*(one for prices, _ in curves.values() for one in prices), price])
        positive = [error for _, errors in curves.values() for error in errors] + [plan.default.rms]
        if min(positive) > 0:
            right.set_yscale("log")
        right.set_title("Error against price")
        figure.legend(loc="outside lower center", ncols=3)
        figure.suptitle(f"{plan.statistic.name}, {plan.price!r}, {plan.size}: {plan.assumed.words}")
        return figure


def _candidates(plan: Plan, price: Guarantee, *, only_default: bool = False) -> list[Candidate]:
    return candidates(
        plan.statistic, price, rows=plan.rows, neighbors=plan.neighbors, hints=dict(plan.hints),
        only_default=only_default,
    )  # fmt: skip
