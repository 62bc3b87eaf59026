"""What the worker computes for pages: plans, audits, maps of generated people, what a tally leaks. All of it is public.

Each task tells what it finds stage by stage in plain words and numbers; nothing here opens a ledger or a source.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

Tell = Callable[[str, Any], None]
Progress = Callable[[int, int], None]


def plan(tell: Tell, progress: Progress, asked: dict[str, Any], options: dict[str, Any]) -> None:
    """The default's error, then the ranked table, then the curves."""
    from sordino.planner import plan as planned
    from sordino.planner.figures import error_curves
    from sordino.web.question import Inquiry

    question = Inquiry.from_dict(asked)
    given = {**options, **(question.hints or {})}
    if question.interval is not None:
        given["interval"] = question.interval
    quick = planned(question.statistic, question.price, **given, only_default=True, tables=2)
    tell("quick", figures(quick))
    found = planned(question.statistic, question.price, **given, progress=progress)
    tell("full", figures(found))
    progress(1, 1)
    tell("curves", error_curves(found))


def figures(found: Any) -> dict[str, Any]:
    """What a page shows of a plan."""
    from sordino.planner.report import short

    return {
        "data": found.data,
        "subject": found.subject,
        "size": found.size,
        "verdict": found.verdict,
        "choice": found.choice.removeprefix("* "),
        "floor": found.floor,
        "span": found.span.lines(short) if found.span is not None else [],
        "python": found.python,
        "command": found.command,
        "assumed": found.assumed.words,
        "sampling_error": found.sampling_error,
        "options": [option.to_dict() | {"how": option.how, "mechanism": None} for option in found.options],
    }


def budget(tell: Tell, progress: Progress, asked: list[Any], price: dict[str, Any], rows: int) -> None:
    """How one budget is shared among several questions, with the error of each."""
    from sordino.explain import amounts
    from sordino.planner import plan_budget
    from sordino.privacy import Guarantee
    from sordino.statistics import Statistic

    statistics, wanted = [Statistic.from_dict(one) for one, _ in asked], [error for _, error in asked]
    found = plan_budget(statistics, Guarantee.from_dict(price), rows=rows, errors=wanted, progress=progress)
    tell(
        "full",
        {
            "lines": [line.to_dict() | {"name": line.name, "price": amounts(line.price)} for line in found.lines],
            "verdict": found.verdict, "rule": found.rule, "python": found.python, "command": found.command,
            "size": found.lines[0].plan.size,
        },
    )  # fmt: skip


def audit(tell: Tell, progress: Progress, statistic: str, price: dict[str, Any], runs: int) -> None:
    """Real runs on the worst pair of tables that a replay finds."""
    from sordino import catalogue
    from sordino.errors import ParameterError
    from sordino.privacy import Guarantee
    from sordino.testing.audit import audit_default

    cases = [case for case in catalogue.statistic(statistic).cases() if case.statistic.counts_rows]
    if not cases:
        raise ParameterError(
            "audit", "this statistic has no small tables to audit on", got={"statistic": statistic}
        )
    found = audit_default(cases[0], Guarantee.from_dict(price), runs=runs, progress=progress)
    tell(
        "full",
        {
            "refuted": found.refuted, "lower": found.lower, "epsilon": found.epsilon, "delta": found.delta,
            "runs": found.runs, "confidence": found.confidence, "strong": found.strong, "event": found.event,
        },
    )  # fmt: skip


def certificate(tell: Tell, progress: Progress, family: str, price: dict[str, Any], smoothing: str) -> None:
    """What a calibration of a noise family promises, and by which proof."""
    from fractions import Fraction

    from sordino import catalogue
    from sordino.explain import amounts
    from sordino.privacy import Guarantee

    progress(0, 1)
    made = catalogue.noise_family(family).calibrate(Guarantee.from_dict(price), smoothing=Fraction(smoothing))
    tell(
        "full",
        {
            "family": family, "claimed": amounts(Guarantee.from_dict(price)), "proved": amounts(made.guarantee),
            "words": made.guarantee.words,
            "proof": made.proof, "scale": float(made.scale), "smoothing": float(made.smoothing),
        },
    )  # fmt: skip


def places(
    tell: Tell, progress: Progress, epsilon: float, per: float, users: int, side: float, wanted: float
) -> None:
    """What a map of people who move their own points will show, on a generated city."""
    import numpy as np

    from sordino.geo.maps import map_of
    from sordino.geo.planning import assume
    from sordino.geo.point_planning import compare, plan_points, resolutions
    from sordino.geo.points import Points
    from sordino.geo.reference import Reference
    from sordino.privacy import Geo

    price = Geo(epsilon, per=per)
    unit = float(1 / price.rate)
    density = users / (side / 1000) ** 2
    smallest, square = plan_points(density, price, relative=wanted)
    tell(
        "quick",
        {
            "smallest": smallest, "square": square, "density": density, "unit": unit,
            "rows": [(one.bandwidth, one.error, one.relative) for one in resolutions(density, unit)],
        },
    )  # fmt: skip
    some = min(users, 20_000)
    people = assume("city", 2, spread=0.5 * side, count=some)
    progress(1, 4)
    half, width = side / 2, max(smallest, unit)
    far = half + 3 * width + 5 * unit
    made = Points(Reference.flat(low=(-far, -far), high=(far, far)), price)
    inside = people[(np.abs(people) < far - unit).all(axis=1)]
    reports = made.report(metres=inside)
    corners: dict[str, Any] = {"low": (-half, -half), "high": (half, half), "shape": (28, 28)}
    progress(2, 4)
    edges = np.linspace(-half, half, 29)
    truth = np.histogram2d(inside[:, 0], inside[:, 1], bins=(edges, edges))[0]
    best = map_of(reports, bandwidth=width, best=True, **corners).density
    progress(3, 4)
    rows = compare(inside, price, side=side, bandwidth=width, cells=33)
    tell(
        "full",
        {
            "truth": (truth / max(truth.max(), 1)).round(3).tolist(),
            "best": (np.clip(best, 0, None) / max(best.max(), 1e-300)).round(3).tolist(),
            "bandwidth": width,
            "people": len(inside),
            "compare": [(one.method, one.error, one.reports) for one in rows],
        },
    )


def tally(tell: Tell, progress: Progress, counts: dict[str, int], published: str, epsilon: float) -> None:
    """What publishing a random part of records leaks."""
    from sordino.smoothed import sampling
    from sordino.smoothed.asked import amount

    progress(0, 1)
    made = sampling(records=counts, published=amount(published, name="published"))
    leak = made.delta(epsilon=epsilon)
    prices = sorted({round(epsilon * factor, 6) for factor in (0.1, 0.2, 0.4, 0.7, 1, 1.5, 2, 3)} | {epsilon})
    tell(
        "full",
        {
            "lines": leak.lines(), "reading": leak.reading, "verdict": leak.verdict, "delta": leak.text,
            "log10": leak.log10, "worst10": leak.log_worst / math.log(10.0), "records": made.records,
            "curve": [(one, made.delta(epsilon=one).log10) for one in prices], "epsilon": epsilon,
        },
    )  # fmt: skip


def precincts(
    tell: Tell, progress: Progress, text: str, options: dict[str, Any], epsilon: float, held_back: str
) -> None:
    """Which precincts of a table are too small to publish."""
    from sordino.smoothed.asked import amount
    from sordino.smoothed.files import read_precincts
    from sordino.smoothed.precincts import precincts as analyse

    progress(0, 1)
    with tempfile.TemporaryDirectory() as folder:  # the reader takes files; gone as soon as it is read
        file = Path(folder) / "precincts.csv"
        file.touch(mode=0o600)
        file.write_text(text, encoding="utf-8")
        read = read_precincts(file, **options)
    found = analyse(read, epsilon=epsilon, held_back=amount(held_back, name="held_back"))
    tell(
        "full",
        {
            "read": read.lines(), "rows": found.rows(), "lines": found.lines(), "reading": found.reading,
            "unsafe": len(found.unsafe), "records": found.records, "categories": list(found.categories),
            "names": [one.name for one in found.precincts], "certain": found.certain,
        },
    )  # fmt: skip


TASKS: dict[str, Callable[..., None]] = {
    "plan": plan, "budget": budget, "audit": audit, "certificate": certificate, "places": places, "tally": tally,
    "precincts": precincts,
}  # fmt: skip
LAST = {"plan": "curves"}
"""The last stage of each task; ``full`` where nothing is said."""
