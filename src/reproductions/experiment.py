"""What an experiment is: a claim of a paper, independent parts that compute rows, a finding and a figure.

A part is a small dictionary of settings, seed included, that determines its rows; so parts can be kept, resumed and
spread over processes. Keeping them on disk is runner.py's business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sordino import checks

SCALES = ("smoke", "full")

Part = dict[str, Any]
Row = list[Any]


@dataclass(frozen=True, slots=True)
class Experiment:
    """One table or figure of a paper.

    Attributes:
        name: What is typed: ``bun-2019-figure-2``.
        paper: Number of the paper.
        title: What is shown, in a line.
        claim: What the paper says.
        columns: Names of the columns.
        parts: Settings of the independent parts at a scale; a folder of data files may add some.
        compute: Rows of one part, a function of a module (worker processes import it).
        say: The finding in words.
        draw: The figure.
    """

    name: str
    paper: str
    title: str
    claim: str
    columns: tuple[str, ...]
    parts: Callable[[str, Path | None], list[Part]]
    compute: Callable[[Part], list[Row]]
    say: Callable[[Result], str]
    draw: Callable[[Result], Any]

    def run(
        self,
        scale: str = "smoke",
        progress: Callable[[int], None] | None = None,
        *,
        data: Path | None = None,
    ) -> Result:
        """Compute all parts here and now, keeping nothing; ``progress`` is told of every part.

        Example:
            >>> from reproductions import experiments
            >>> experiments()["hladik-2022-figure-1"].run("smoke").columns[0]
            'smoothing'
        """
        checks.one_of("paper", SCALES, scale=scale)
        parts, rows = self.parts(scale, data), []
        for part in parts:
            rows.append(self.compute(part))
            if progress is not None:
                progress(1)
        return Result(self, scale, tuple(parts), tuple(rows))


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of an experiment at a scale, by part.

    Attributes:
        experiment: What was run.
        scale: ``smoke`` or ``full``.
        settings: Settings of the parts.
        by_part: Rows of the parts, in the same order.
    """

    experiment: Experiment
    scale: str
    settings: tuple[Part, ...]
    by_part: tuple[list[Row], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.experiment.columns

    @property
    def rows(self) -> list[Row]:
        """All rows."""
        return [row for rows in self.by_part for row in rows]

    @property
    def finding(self) -> str:
        """What came out, in words."""
        return self.experiment.say(self)

    def figure(self) -> Any:
        """Draw it (a matplotlib Figure)."""
        return self.experiment.draw(self)

    def column(self, name: str, **where: Any) -> list[Any]:
        """Give one column of the rows whose other columns have the given values."""
        return [row[name] for row in self.select(**where)]

    def select(self, **where: Any) -> list[dict[str, Any]]:
        """Give the rows with the given values, as dictionaries."""
        named = (dict(zip(self.columns, row, strict=True)) for row in self.rows)
        return [row for row in named if all(row[key] == value for key, value in where.items())]

    def one(self, column: str, **where: Any) -> Any:
        """Give the single value of a column where the other columns have the given values."""
        (value,) = self.column(column, **where)
        return value

    def values(self, column: str) -> list[Any]:
        """Give the distinct values of a column, in order of appearance."""
        return list(dict.fromkeys(self.column(column)))


def series(
    result: Result, *, name: str, x: str, y: str
) -> dict[str, tuple[Sequence[float], Sequence[float]]]:
    """Arrange long rows as named curves: one per value of ``name``."""
    return {
        str(value): (result.column(x, **{name: value}), result.column(y, **{name: value}))
        for value in result.values(name)
    }
