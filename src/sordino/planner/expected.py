"""The error to expect of a question as it would be put: with its unit, relation, filter, groups and mechanism.

On generated columns that suit the public bounds; no private data come in here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sordino.errors import ParameterError, SordinoError
from sordino.planner.assumed import assumed
from sordino.planner.candidate import Candidate, candidates
from sordino.planner.planning import tried
from sordino.planner.trial import Trial

if TYPE_CHECKING:
    from collections.abc import Callable

    from sordino.mechanisms import Mechanism
    from sordino.planner.report import Option
    from sordino.privacy import Guarantee
    from sordino.session.quote import Question

TABLES = 4
DRAWS = 48


def expected(
    question: Question,
    rows: int | None,
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[Option | None]:
    """One figure per statistic of a question; None where nothing like its data can be generated.

    Args:
        question: What would be asked, priced and with its mechanisms chosen.
        rows: How many rows the data have, roughly; of groups each has its part.
        seed: Names the generated columns.
        progress: Is called with the statistics done and all of them.

    Example:
        >>> from sordino.privacy import Neighbors, Pure, Unit
        >>> from sordino.session.quote import prepare
        >>> from sordino.statistics.count import Count
        >>> asked = prepare(Count("age"), Pure(1), neighbors=Neighbors.REPLACE_ONE, unit=Unit())
        >>> round(expected(asked, 1000)[0].rms, 1)
        1.4
    """
    each = (
        rows if rows is None or question.event.by is None else max(1, rows // len(question.event.by["keys"]))
    )
    found: list[Option | None] = []
    for done, part in enumerate(question.parts):
        if progress is not None:
            progress(done, len(question.parts))
        try:
            trial = Trial(part.statistic, assumed(None, part.statistic), rows=each, seed=seed)
            candidate = Candidate(part.mechanism.label, part, default=True)
            found.append(tried(candidate, trial, tables=TABLES, draws=DRAWS))
        except (SordinoError, AssertionError):
            found.append(None)  # a mixture of columns, or no number of rows
    if progress is not None:
        progress(len(question.parts), len(question.parts))
    return found


def named(
    name: str, question: Question, price: Guarantee, rows: int | None, hints: dict[str, Any]
) -> Mechanism:
    """The mechanism that a plan calls by a name, for a question of one statistic.

    Args:
        name: As a plan lists it: ``quantile``, ``polyplace``, ``laplace (global)``.
        question: The question with its default mechanism.
        price: What the question may cost.
        rows: The number of rows, where it is known.
        hints: Public options of the choice.
    """
    if len(question.parts) != 1:
        raise ParameterError(
            "release", "--mechanism is for one statistic", hint="leave out --and, or --mechanism"
        )
    (part,), event = question.parts, question.event
    paid = price if event.by is None else price.per_row(event.contribution)
    each = rows if rows is None or event.by is None else max(1, rows // len(event.by["keys"]))
    found = candidates(part.statistic, paid, rows=each, neighbors=part.statistic.neighbors, hints=hints)
    for one in found:
        if name in (one.name, one.mechanism.name):
            return one.mechanism
    raise ParameterError(
        "release", "--mechanism must be one that a plan lists for this question", got={"mechanism": name},
        why="Only mechanisms with a theorem for the statistic, the price and the neighbours can answer.",
        hint="one of " + ", ".join(repr(one.name) for one in found),
    )  # fmt: skip
