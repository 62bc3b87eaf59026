"""What Figures 1 and 2 show, in tables and words: our findings where they differ from the paper.

Rows and sentences only; the numbers come from :mod:`reproductions.elections`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reproductions.elections import straight_line
from sordino.smoothed.leak import power

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproductions.elections import SizeFigure, YearFigure

Table = tuple[str, tuple[str, ...], list[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class Findings:
    """Tables (title, header, rows), paragraphs for people, and plain values for machines."""

    tables: tuple[Table, ...]
    paragraphs: tuple[str, ...]
    data: Any


def figure_one(points: Sequence[YearFigure], *, lost: float, epsilon: float) -> Findings:
    """Describe Figure 1.

    Example:
        >>> from reproductions import elections
        >>> found = figure_one(elections.figure_one(), lost=0.002, epsilon=elections.EPSILON)
        >>> found.paragraphs[0][:22]
        'In 26 of 26 elections '
    """
    rows: list[tuple[Any, ...]] = [
        (
            str(point.election.year),
            point.election.votes,
            power(point.log_delta),
            power(point.log_utility),
            power(-math.log(point.election.votes)),
            power(point.log_worst),
        )
        for point in points
    ]
    header = ("year", "votes", "delta", "utility", "1/n", "worst case")
    below = sum(point.below_one_over_n for point in points)
    paragraphs = (
        (
            f"In {below} of {len(points)} elections delta is below one over the number of votes. Utility is how "
            "much better than chance somebody who knows all votes but one guesses the last one, by the paper's "
            "measure."
        ),
        (
            "How to read it: among the totals of the two main candidates one vote hardly shows, because any of "
            "the many lost votes on either side could have been it. It promises nothing for small places or small "
            "candidates, nor against somebody who knows which ballots were lost; ordinary differential privacy, "
            "which must hold for every possible tally, gives the worst case in the last column."
        ),
        (
            "Findings: the paper does not state the epsilon of this figure; of the values tried only ln(51/49) "
            "fits its range of 1e-32 to 1e-8. The further claim that the elections stay private with 0.01 % of "
            "the votes lost does not hold at this epsilon (--lost 0.01%): delta is then 3e-5 to 4e-3, far above "
            "1/n."
        ),
    )
    data = [
        {
            "year": point.election.year,
            "votes": point.election.votes,
            "epsilon": epsilon,
            "log_delta": point.log_delta,
            "log_utility": point.log_utility,
            "worst_case_delta": math.exp(point.log_worst),
            "below_one_over_n": point.below_one_over_n,
        }
        for point in points
    ]
    title = f"{lost:.2%} of the votes lost at random, epsilon {epsilon:.4g}"
    return Findings(((title, header, rows),), paragraphs, data)


def figure_two(
    left: Sequence[SizeFigure], right: Sequence[SizeFigure], *, ends: tuple[str, ...], units: int, lost: float
) -> Findings:
    """Describe Figure 2, both panels."""
    fits = square_root_law(right)
    high, low = ends
    paragraphs = [
        (
            f"Left: the vertices of the hull are {high} and {low}, of {units} units. The paper names DC and NE-2, "
            "but NE-2 is 53 % Democratic and lies inside the hull; the other end is NE-3. The maximum is at "
            "all-DC either way, so the curves are the same. Up to 10,000 voters every epsilon gives the same "
            "delta: the chance that no ballot of the minority is among the lost ones."
        ),
        *(
            f"Right, epsilon {epsilon}: a straight line of ln delta against sqrt n explains {root:.3f} of the "
            f"variance, against n {plain:.3f}."
            for epsilon, (root, plain) in fits.items()
        ),
        (
            "The paper says exponentially small in n; with batches of sqrt(n) records it is exponential in sqrt "
            "n. How to read both: smoothed delta is an average over databases from these distributions, not a "
            "promise for one of them. One step is covered, training is not, because later steps react to earlier "
            "ones."
        ),
    ]
    data = {
        "ends": list(ends),
        "lost": lost,
        "left": [_plain(point) for point in left],
        "right": [_plain(point) for point in right],
        "variance_explained_by_sqrt_n_and_n": fits,
    }
    tables = (
        _by_size(
            left, f"Left: smoothed delta, electorates between {high} and {low}, {lost:.2%} of the votes lost"
        ),
        _by_size(
            right,
            "Right: smoothed delta, mean of sqrt(n) of n 8-bit gradients (99 % intervals in the picture)",
        ),
    )
    return Findings(tables, tuple(paragraphs), data)


def _plain(point: SizeFigure) -> dict[str, float]:
    """Return one point as plain values."""
    return {
        "records": point.records,
        "epsilon": point.epsilon,
        "log_delta": point.log_delta,
        "log_low": point.log_low,
        "log_worst": point.log_worst,
    }


def _by_size(points: Sequence[SizeFigure], title: str) -> Table:
    """Arrange one row per size, one column per epsilon, and the worst case."""
    epsilons = list(dict.fromkeys(point.epsilon for point in points))
    found = {(point.records, point.epsilon): point for point in points}
    rows: list[tuple[Any, ...]] = [
        (n, *(power(found[n, e].log_delta) for e in epsilons), power(found[n, epsilons[0]].log_worst))
        for n in sorted({point.records for point in points})
    ]
    return title, ("n", *(f"epsilon {e:g}" for e in epsilons), "worst case"), rows


def square_root_law(points: Sequence[SizeFigure]) -> dict[str, tuple[float, float]]:
    """Return, for every epsilon, the share of the variance of ln delta explained by sqrt n and by n."""
    result = {}
    for epsilon in dict.fromkeys(point.epsilon for point in points):
        chosen = [point for point in points if point.epsilon == epsilon and math.isfinite(point.log_delta)]
        if len(chosen) >= 3:
            logs = [point.log_delta for point in chosen]
            root = straight_line([math.sqrt(point.records) for point in chosen], logs)[2]
            plain = straight_line([float(point.records) for point in chosen], logs)[2]
            result[f"{epsilon:g}"] = (root, plain)
    return result
