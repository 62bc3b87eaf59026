"""M0 of Liang and Yi (2024): the question is asked of the moved points as if they were the true ones.

A release of points (`Points.report`) and this is that mechanism, with noise that is exact. It takes any question, also
one with jumps, and it is biased: `answer` removes the bias where the question is smooth. Everything here is
post-processing of reports.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np

from sordino import checks
from sordino.errors import DataError
from sordino.geo.answers import ReportAnswer
from sordino.geo.points import PointReports
from sordino.geo.query import Query


def moved_answer(reports: PointReports, question: Any, *, confidence: float = 0.95) -> ReportAnswer:
    """Ask a question of moved points: a sum over people that is off by what the noise moves them.

    Args:
        reports: Point reports of one mechanism.
        question: A query (a threshold, a region, a kernel density), or a function of the points: an array of shape
            (n, dimension), or (n,) on a line, in, and n numbers out.
        confidence: Of the interval, which covers what is expected of moved points, not the truth about the people.

    Example:
        >>> from sordino.geo import Points, Reference
        >>> from sordino.privacy import Geo
        >>> made = Points(Reference.flat(low=0, high=10**6, unit="dollar"), Geo(1, per=5_000))
        >>> reports = made.report(metres=np.repeat([40_000.0, 90_000.0], 4_000))
        >>> above = moved_answer(reports, lambda x: x > 50_000)
        >>> 0.5 < above.share < 0.6                          # the truth is 0.5: some were moved across the threshold
        True
    """
    if not isinstance(reports, PointReports):
        raise DataError(
            "answer", "moved points come from point reports", got={"reports": type(reports).__name__},
            hint="Points(reference, price).report(metres=...)",
        )  # fmt: skip
    level = float(checks.between("answer", 0, 1, confidence=confidence))
    at = reports.metres
    at = at[:, 0] if reports.mechanism.dimension == 1 else at
    asked = question.value if isinstance(question, Query) else question
    found = np.asarray(asked(at), dtype=np.float64)
    if found.shape != (len(reports),):
        raise DataError("answer", "the question must give one number per point", got={"shape": found.shape})
    count = len(found)
    error = float(np.sqrt(count * found.var(ddof=1))) if count > 1 else float("nan")
    total, reach = float(found.sum()), NormalDist().inv_cdf(0.5 + level / 2) * error
    return ReportAnswer(total, error, total - reach, total + reach, float(count), level, None, question)
