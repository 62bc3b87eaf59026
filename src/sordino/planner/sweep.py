"""More questions people ask back: which trim, how wide may the bounds be, what does add/remove cost.

Each answers with a `Sweep`: the expected error of the default mechanism against one public number, on the same
generated tables throughout. No private data.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino import checks
from sordino.errors import ParameterError, SordinoError, Unsupported
from sordino.planner.assumed import assumed
from sordino.planner.inverse import DRAWS, TABLES, expected_error
from sordino.planner.report import aligned, short, wrapped
from sordino.planner.trial import Trial
from sordino.privacy import Neighbors

if TYPE_CHECKING:
    from sordino.privacy import Guarantee
    from sordino.statistics import Statistic

TRIMS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
WIDTHS = (1, 2, 5, 10, 100, 1000, 10**4, 10**6, 10**9)
STRICT = "add-remove-one, same promise"
FACTORS = (Fraction(1, 10), Fraction(1, 3), Fraction(1), Fraction(3), Fraction(10))
SAMPLES = 32  # generated tables for sampling errors


@dataclass(frozen=True, slots=True)
class Sweep:
    """Expected errors against one public number; made from generated or public data only.

    Attributes:
        question: What was asked, in words.
        along: What changes from row to row.
        values: Its values.
        columns: Named columns of figures, one per value; None where nothing can answer.
        best: The place of the row that answers the question; None where none does.
        answer: The answer in words.
        assumed: What the tables were drawn from, in words.
        python: The same question in Python.
        drawn: The columns that are drawn.
        marked: The one of them on which the answer is marked.
    """

    question: str
    along: str
    values: tuple[float, ...]
    columns: dict[str, tuple[float | None, ...]]
    best: int | None
    answer: str
    assumed: str
    python: str
    drawn: tuple[str, ...]
    marked: str

    @property
    def value(self) -> float | None:
        """The number that answers the question."""
        return None if self.best is None else self.values[self.best]

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int | None = None) -> str:
        """The question, its table and its answer; they fit the width, the line to paste stays whole.

        Args:
            width: How wide a line may be; as wide as needed where nothing is said.
        """
        cells = [
            [
                "*" if place == self.best else "",
                f"{value:,.6g}",
                *(_shown(c[place]) for c in self.columns.values()),
            ]
            for place, value in enumerate(self.values)
        ]
        head = ("", self.along, *self.columns)
        table = aligned(head, cells, right=range(1, len(head)), width=width and max(width - 2, 40))
        data = f"data: generated or public ({self.assumed}), no private data was read"
        lines = [*wrapped([self.question, data], width), *("  " + line for line in table)]
        return "\n".join([*lines, *wrapped([self.answer], width), f"in Python: {self.python}"])

    def to_dict(self) -> dict[str, Any]:
        """A plain record for machines."""
        return {
            "kind": "sweep",
            "private_data_read": False,
            "question": self.question,
            "along": self.along,
            "values": list(self.values),
            "columns": {name: list(figures) for name, figures in self.columns.items()},
            "best": self.value,
            "answer": self.answer,
            "assumed": self.assumed,
            "python": self.python,
        }

    def plot(self) -> Any:
        """Lines of the errors, the best row marked."""
        from sordino.planner.sweep_figure import sweep_picture

        return sweep_picture(self)


def best_trim(
    statistic: Statistic,
    price: Guarantee,
    *,
    rows: int,
    trims: Sequence[float] = TRIMS,
    assume: Any = None,
    neighbors: Neighbors | None = None,
    tables: int = TABLES,
    draws: int = DRAWS,
    seed: int = 0,
    **hints: Any,
) -> Sweep:
    """Say which trim gives the smallest error: of privacy and sampling together.

    Little trimming leaves the answer to the bounds, much of it throws rows away. How far the trimmed value lies from
    the untrimmed mean is shown beside it, because that is a difference in meaning that no row makes smaller.

    Args:
        statistic: One with a ``trim``; its own is replaced.
        price: What it may cost.
        rows: How many rows the data have, roughly.
        trims: The shares to try, cut from either end.
        assume: As for `plan`.
        neighbors: As for `plan`.
        tables: As for `plan`.
        draws: As for `plan`.
        seed: As for `plan`.
        hints: As for `plan`.

    Example:
        >>> from sordino.privacy import Pure
        >>> from sordino.statistics.trimmed_mean import TrimmedMean
        >>> found = best_trim(TrimmedMean("x", trim=0.1, low=0, high=1e6), Pure(1), rows=300, trims=(0.01, 0.2),
        ...                   tables=2)
        >>> found.value
        0.2
    """
    if not any(field.name == "trim" for field in dataclasses.fields(statistic)):  # type: ignore[arg-type]
        raise Unsupported(
            statistic.name, "has no trim", why="Only trimmed statistics cut rows from their ends.",
            hint='sd.TrimmedMean("x", trim=0.1, low=0, high=1000)',
        )  # fmt: skip
    shape = assumed(assume, statistic)
    given: dict[str, Any] = {"rows": rows, "assume": shape, "neighbors": neighbors, "seed": seed}
    plain = Trial(_mean_like(statistic), shape, rows=rows, seed=seed)
    figures: list[tuple[float | None, float, float, float]] = []
    tried = tuple(float(checks.between("best trim", 0, 0.5, trim=trim)) for trim in trims)
    for trim in tried:
        one: Any = dataclasses.replace(statistic, trim=trim)  # type: ignore[type-var]
        trial = Trial(one, shape, rows=rows, seed=seed)
        natural = trial.sampling_error(SAMPLES)
        shift = sum(float(trial.truth(place) - plain.truth(place)) for place in range(SAMPLES)) / SAMPLES
        try:
            error = expected_error(one, price, tables=tables, draws=draws, **given, **hints)
        except SordinoError:
            error = None
        figures.append((error, natural, math.inf if error is None else math.hypot(error, natural), shift))
    together = [row[2] for row in figures]
    best = min(range(len(tried)), key=lambda place: together[place]) if min(together) < math.inf else None
    answer = "no trim can be answered at this price"
    if best is not None:
        answer = (
            f"* a trim of {tried[best]:g} has the smallest error of privacy and sampling together: "
            f"{short(together[best])}; it lies {short(abs(figures[best][3]))} from the mean on such data"
        )
    return Sweep(
        question=f"which trim for the {statistic.name}, {price!r}, {rows:,} rows?",
        along="trim",
        values=tried,
        columns={
            "privacy rms": tuple(row[0] for row in figures),
            "sampling": tuple(row[1] for row in figures),
            "together": tuple(None if math.isinf(one) else one for one in together),
            "from the mean": tuple(row[3] for row in figures),
        },
        best=best,
        answer=answer,
        assumed=f"{shape.words}, {rows:,} rows",
        python=_python("best_trim", statistic, price, rows, shape),
        drawn=("privacy rms", "sampling", "together"),
        marked="together",
    )


def widest_bounds(
    statistic: Statistic,
    price: Guarantee,
    *,
    rows: int,
    factor: float = 2,
    error: float | None = None,
    assume: Any = None,
    **options: Any,
) -> Sweep:
    """Say how wide the bounds may be until the error grows by a factor, or exceeds an error.

    The data stay as they are assumed for the bounds of the statistic; only the bounds grow: upwards where the lower
    one is zero, to both sides otherwise.

    Args:
        statistic: One with ``low`` and ``high``.
        price: What it may cost.
        rows: How many rows the data have, roughly.
        factor: How much larger than with the given bounds the error may become.
        error: Instead: the root mean square error that may not be exceeded.
        assume: As for `plan`.
        options: As for `expected_error`.

    Example:
        >>> from sordino.privacy import Pure
        >>> from sordino.statistics.mean import Mean
        >>> found = widest_bounds(Mean("x", low=0, high=1), Pure(1), rows=100, tight=True, tables=1)
        >>> found.value  # noise in proportion to the width
        2.0
    """
    low, high = getattr(statistic, "low", None), getattr(statistic, "high", None)
    if low is None or high is None:
        raise Unsupported(
            statistic.name, "has no bounds", why="Its noise does not follow a range.",
            hint='sd.Mean("x", low=0, high=1000)',
        )  # fmt: skip
    wanted = checks.greater_than("widest bounds", 1, factor=factor) if error is None else None
    shape = assumed(assume, statistic)
    width = Fraction(high) - Fraction(low)
    figures: list[float | None] = []
    ends: list[tuple[float, float]] = []
    for times in WIDTHS:
        more = width * (times - 1)
        grown = (low, float(high + more)) if low == 0 else (float(low - more / 2), float(high + more / 2))
        ends.append(grown)
        try:
            one: Any = dataclasses.replace(statistic, low=grown[0], high=grown[1])  # type: ignore[type-var]
            figures.append(expected_error(one, price, rows=rows, assume=shape, **options))
        except SordinoError:
            figures.append(None)
    if figures[0] is None:
        raise Unsupported(statistic.name, "cannot be answered at this price", got={"price": price})
    most = float(checks.positive("widest bounds", error=error)) if error is not None else 0.0
    if wanted is not None:
        most = figures[0] * float(wanted) * (1 + 1e-6)
    fine = [place for place, one in enumerate(figures) if one is not None and one <= most]
    best = max((place for place in fine if set(range(place)) <= set(fine)), default=None)
    rule = f"an error of at most {short(most)}"
    if best is None:
        answer = f"even the given bounds are too wide for {rule}"
    else:
        said = f"bounds {WIDTHS[best]:,} times as wide ({ends[best][0]:,.6g} to {ends[best][1]:,.6g}) still give {rule}"
        answer = f"* {said}" + ("; nothing wider was tried" if best == len(WIDTHS) - 1 else "")
    return Sweep(
        question=f"how wide may the bounds of the {statistic.name} be, {price!r}, {rows:,} rows?",
        along="times as wide",
        values=tuple(float(one) for one in WIDTHS),
        columns={
            "low": tuple(one for one, _ in ends),
            "high": tuple(one for _, one in ends),
            "privacy rms": tuple(figures),
        },
        best=best,
        answer=answer,
        assumed=f"{shape.words}, {rows:,} rows",
        python=_python("widest_bounds", statistic, price, rows, shape),
        drawn=("privacy rms",),
        marked="privacy rms",
    )


def add_remove_cost(
    statistic: Statistic, price: Guarantee, *, rows: int, assume: Any = None, **options: Any
) -> Sweep:
    """Set the errors under both neighbour relations side by side, at prices around the one given.

    Add/remove-one hides also how many rows there are, but a replaced person is two steps away: at one price it
    promises less about a replacement. A third line therefore shows it at the price that promises as much.

    Args:
        statistic: What would be asked.
        price: What it may cost.
        rows: How many rows the data have, roughly.
        assume: As for `plan`.
        options: As for `expected_error`.

    Example:
        >>> from sordino.privacy import Pure
        >>> from sordino.statistics.count import Count
        >>> add_remove_cost(Count("x"), Pure(1), rows=100, tables=1).columns["ratio"][2]
        1.0
    """
    relations = (Neighbors.REPLACE_ONE, Neighbors.ADD_REMOVE_ONE)
    if not set(relations) <= set(statistic.relations):
        raise Unsupported(
            statistic.name, "knows one neighbour relation only",
            got={"neighbors": ", ".join(one.value for one in statistic.relations)},
            hint="there is nothing to compare",
        )  # fmt: skip
    from sordino.planner.figures import amount

    shape = assumed(assume, statistic)
    prices = [price.scaled(factor) for factor in FACTORS]
    lines: dict[str, tuple[float | None, ...]] = {}
    for relation in relations:
        lines[relation.value] = tuple(
            _tried(statistic, one, rows=rows, assume=shape, neighbors=relation, **options) for one in prices
        )
    first, second = lines.values()
    # A replacement is a removal and an addition: half the price promises as much about it.
    lines[STRICT] = tuple(
        _tried(statistic, one.per_row(2), rows=rows, assume=shape, neighbors=relations[1], **options)
        for one in prices
    )
    ratios = tuple(
        None if a is None or b is None or a == 0 else b / a for a, b in zip(first, second, strict=True)
    )
    here = FACTORS.index(Fraction(1))
    answer = "one of the two cannot be answered at this price"
    if ratios[here] is not None:
        answer = f"* at this price add/remove-one has {ratios[here]:.3g} times the error of replace-one"
        strict, plain = lines[STRICT][here], first[here]
        if strict is not None and plain:
            answer += (
                f"; with the same promise about a replaced person (add/remove at {price.per_row(2)!r}) "
                f"it has {strict / plain:.3g} times"
            )
    return Sweep(
        question=f"what does add/remove cost over replace-one for the {statistic.name}, {rows:,} rows?",
        along="rho" if hasattr(price, "rho") else "epsilon",
        values=tuple(amount(one) for one in prices),
        columns={**lines, "ratio": ratios},
        best=here,
        answer=answer,
        assumed=f"{shape.words}, {rows:,} rows",
        python=_python("add_remove_cost", statistic, price, rows, shape),
        drawn=tuple(lines),
        marked=relations[1].value,
    )


def _tried(statistic: Statistic, price: Guarantee, **options: Any) -> float | None:
    try:
        return expected_error(statistic, price, **options)
    except ParameterError:
        raise
    except SordinoError:
        return None


def _mean_like(statistic: Any) -> Statistic:
    """The mean of the same column."""
    from sordino.statistics.mean import Mean

    return Mean(
        statistic.column, low=statistic.low, high=statistic.high, step=statistic.step, missing=statistic.missing,
        bits=statistic.bits, neighbors=statistic.neighbors,
    )  # fmt: skip


def _python(name: str, statistic: Statistic, price: Guarantee, rows: int, shape: Any) -> str:
    from sordino.planner.code import price_code, python_call

    assume = f'"{shape.option()}"' if shape.option() is not None else "sample"
    return f"sd.{name}({python_call(statistic)}, {price_code(price)}, rows={rows}, assume={assume})"


def _shown(value: float | None) -> str:
    return "-" if value is None else short(value)
