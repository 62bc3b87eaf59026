"""`BudgetPlan`: a proposed split of one budget with the error of each answer, as text, records, pictures and code.

All numbers were worked out in `split`; single plans are `report`.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from sordino.layout import html_table
from sordino.planner.code import hint_words, price_code, price_words, python_call, typed_words
from sordino.planner.report import aligned, short, wrapped
from sordino.privacy import Neighbors, compose

if TYPE_CHECKING:
    from fractions import Fraction

    from sordino.planner.report import Option, Plan
    from sordino.privacy import Guarantee
    from sordino.statistics import Statistic

HEAD = (
    "share",
    "price",
    "answer",
    "median",
    "rms",
    "9 in 10",
    "sampling",
    "wanted",
    "rms/measure",
    "even split",
)

WIDE = 110  # characters for all columns


@dataclass(frozen=True, slots=True)
class Line:
    """One answer of a split.

    Attributes:
        statistic: What would be asked.
        share: Its part of the budget.
        price: What it would cost.
        option: The default mechanism and its expected error at this price.
        plan: The whole plan of this answer.
        sampling_error: How much the statistic varies between samples without any privacy.
        wanted: The error that was wanted; None where the sampling error is the measure.
        measure: What the error is compared with.
        even: The error with an even split of the budget, estimated.
    """

    statistic: Statistic
    share: Fraction
    price: Guarantee
    option: Option
    plan: Plan
    sampling_error: float
    wanted: float | None
    measure: float
    even: float

    @property
    def ratio(self) -> float:
        """The error over its measure; at most one where what is wanted is reached."""
        return self.option.rms / self.measure

    @property
    def name(self) -> str:
        """The statistic and its column."""
        column = getattr(self.statistic, "column", None)
        return self.statistic.name if column is None else f"{self.statistic.name} of {column}"

    def to_dict(self) -> dict[str, Any]:
        """A plain record."""
        return {
            "statistic": self.statistic.to_dict(),
            "share": float(self.share),
            "price": self.price.to_dict(),
            "mechanism": self.option.name,
            "median": self.option.median,
            "rms": self.option.rms,
            "quantile_90": self.option.most,
            "sampling_error": self.sampling_error,
            "wanted": self.wanted,
            "measure": self.measure,
            "ratio": self.ratio,
            "rms_even_split": self.even,
            "plan": self.plan.python,
        }


@dataclass(frozen=True, slots=True)
class BudgetPlan:
    """A proposed split of a budget; made by `plan_budget` from public or generated data only.

    Attributes:
        budget: What all answers may cost together.
        rows: How many rows were assumed.
        lines: One per statistic, in the order in which they were given.
        seed: Names the generated tables.
    """

    budget: Guarantee
    rows: int | None
    lines: tuple[Line, ...]
    seed: int

    @property
    def prices(self) -> tuple[Guarantee, ...]:
        """One price per statistic, as ``people.release(statistics, prices)`` takes them."""
        return tuple(line.price for line in self.lines)

    @property
    def total(self) -> Guarantee:
        """What the prices add up to, as a session adds them."""
        return compose(self.prices)

    @property
    def worst(self) -> Line:
        """The answer that is farthest from what is wanted of it."""
        return max(self.lines, key=lambda line: line.ratio)

    @property
    def verdict(self) -> str:
        """What the split reaches, in words."""
        even = max(line.even / line.measure for line in self.lines)
        worst = self.worst
        said = (
            f"the largest error is {worst.ratio:.2g} times its measure ({worst.name}); "
            f"with an even split it would be about {even:.2g} times"
        )
        missed = [line.name for line in self.lines if line.wanted is not None and line.ratio > 1.02]
        if missed:
            return f"{said}\nthe budget is too small for what is wanted of: {', '.join(missed)}"
        return said

    @property
    def rule(self) -> str:
        """How the split was chosen, in words."""
        kinds = {
            "the wanted error" for line in self.lines if line.wanted is not None
        } | {
            "the sampling error" for line in self.lines if line.wanted is None and line.sampling_error > 0
        } | {
            "one per cent of the value (it does not vary between samples)"
            for line in self.lines if line.wanted is None and line.sampling_error == 0
        }  # fmt: skip
        return (
            "split so that the largest ratio of privacy error (rms) to its measure is as small as possible; "
            f"the measure is {' or '.join(sorted(kinds, reverse=True))}"
        )

    @property
    def python(self) -> str:
        """The releases, ready to paste."""
        rows = f", rows={self.rows}" if self._relation is Neighbors.ADD_REMOVE_ONE else ""
        near = "" if self._relation is Neighbors.REPLACE_ONE else f", neighbors=sd.{self._relation}"
        lines = [
            f'people = sd.open(table, ledger="people.ledger", budget={price_code(self.budget)}{near}{rows})'
        ]
        for line in self.lines:
            hints = "".join(f", {name}={value!r}" for name, value in line.plan.hints)
            lines.append(f"people.release({python_call(line.statistic)}, {price_code(line.price)}{hints})")
        return "\n".join(lines)

    @property
    def command(self) -> str:
        """The releases on the command line, ready to paste."""
        near = "" if self._relation is Neighbors.REPLACE_ONE else f" --neighbors {self._relation.value}"
        budget = " ".join(price_words(self.budget))
        lines = [f'sordino ledger create people.ledger {budget}{near} --reason "..."']
        for line in self.lines:
            if getattr(line.statistic, "parts", None) and not hasattr(line.statistic, "column"):
                lines.append(f"# the {line.name} is asked in Python")
                continue
            words = [line.statistic.name, *typed_words(line.statistic), *price_words(line.price)]
            words += hint_words(line.plan.hints)
            lines.append(f"sordino release {' '.join(words)} --data people.csv --ledger people.ledger")
        return "\n".join(lines)

    @property
    def _relation(self) -> Neighbors:
        return self.lines[0].plan.neighbors

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int | None = None) -> str:
        """The split as text: the table and sentences fit the width, lines to paste stay whole.

        Args:
            width: How wide a line may be; as wide as needed where nothing is said.
        """
        # On a narrow screen without the price, which the lines to paste repeat, and without the median error.
        kept = [place for place in range(len(HEAD)) if width is None or width >= WIDE or place not in (1, 3)]
        cells = [[row[place] for place in kept] for row in self._cells()]
        right = range(kept.index(4), len(kept)) if 3 not in kept else range(3, 10)
        table = aligned(
            tuple(HEAD[place] for place in kept), cells, right=right, width=width and max(width - 2, 40)
        )
        top = [
            f"data: generated or public ({self.lines[0].plan.size}), no private data was read",
            *(f"  {line.name}: {line.plan.assumed.words}" for line in self.lines),
            f"split of {self.budget!r}, {self._relation.value}:",
        ]
        lines = [
            *wrapped(top, width),
            *("  " + line for line in table),
            *wrapped([self.rule, *self.verdict.splitlines()], width),
            "in Python:",
            *("  " + line for line in self.python.splitlines()),
            "on the command line:",
            *("  " + line for line in self.command.splitlines()),
        ]
        return "\n".join(lines)

    def _cells(self) -> list[list[str]]:
        return [
            [
                f"{float(100 * line.share):.1f} %",
                repr(line.price),
                line.name,
                short(line.option.median),
                short(line.option.rms),
                short(line.option.most),
                short(line.sampling_error),
                "-" if line.wanted is None else short(line.wanted),
                f"{line.ratio:.2g}",
                short(line.even),
            ]
            for line in self.lines
        ]

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(text)}</p>" for text in (self.rule, self.verdict))
        table = html_table(f"Split of {self.budget!r}", HEAD, self._cells())
        code = f"<pre>{escape(self.python)}</pre>"
        return f"<div>{table}{notes}{code}</div>"

    def to_dict(self) -> dict[str, Any]:
        """A plain record for machines."""
        return {
            "kind": "budget-plan",
            "private_data_read": False,
            "budget": self.budget.to_dict(),
            "total": self.total.to_dict(),
            "rows": self.rows,
            "neighbors": self._relation.value,
            "lines": [line.to_dict() for line in self.lines],
            "rule": self.rule,
            "python": self.python,
            "command": self.command,
        }

    def plot(self) -> Any:
        """Bars of the errors over their measures, with the even split and the sampling error beside them."""
        from sordino.planner.split_figure import split_picture

        return split_picture(self)
