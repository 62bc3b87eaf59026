"""`Plan`: the ranked options with their expected errors, as text, HTML, plain records and pictures.

It says what was assumed and that no private data was read. All numbers were worked out before, in `planning`.
"""

from __future__ import annotations

import math
import shlex
import textwrap
from dataclasses import dataclass, fields
from html import escape
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from sordino.coverage import Coverage, Population
from sordino.layout import aligned as columns
from sordino.layout import html_table
from sordino.planner.code import code, hint_words, price_code, price_words, python_call, typed, typed_words
from sordino.planner.modes import modes
from sordino.planner.subject import Subject
from sordino.privacy import Neighbors

if TYPE_CHECKING:
    from sordino.mechanisms import Mechanism
    from sordino.planner.assumed import Assumed
    from sordino.planner.family import Span
    from sordino.planner.limit import Limit
    from sordino.privacy import Guarantee
    from sordino.statistics import Statistic

FREE = 0.05  # what privacy may add to the sampling error and still be called nearly free
HEAD = ("", "mechanism", "median", "rms", "9 in 10", "noise", "how")


@dataclass(frozen=True, slots=True)
class Option:
    """One way to answer and the error to expect of it, against the statistic of the sample.

    Attributes:
        name: Mechanism, or the family of additive noise.
        mechanism: What would answer; a session takes it as ``mechanism=``.
        median: Half of all errors are at most this.
        rms: Root mean square error.
        most: Nine of ten errors are at most this.
        uncertainty: Standard errors of these three figures, from few columns or few simulated answers.
        exact: Whether the figures come from the exact law of the answer.
        tables: On how many public tables.
        answers: How many answers were simulated; None for exact figures.
        partly: Whether only a released clipping interval was simulated, and the noise is exact given it.
        width: Median width of the error bar, simulated, when one is asked for.
        most_width: Nine of ten are narrower.
        adaptive: Whether the noise follows the data at hand.
        default: Whether a release takes it when nothing else is said.
        trusted: Whether public numbers say that it can be useful.
    """

    name: str
    mechanism: Mechanism
    median: float
    rms: float
    most: float
    uncertainty: tuple[float, float, float]
    exact: bool
    tables: int
    answers: int | None
    partly: bool
    width: float | None
    most_width: float | None
    adaptive: bool
    default: bool
    trusted: bool

    @property
    def how(self) -> str:
        """How the figures were found, and how well they are known."""
        relative = self.uncertainty[1] / self.rms if self.rms > 0 else 0.0
        known = f" +- {math.ceil(100 * relative)} %" if relative >= 0.005 else ""
        simulated = (
            f"exact given {self.answers} clips" if self.partly else f"simulated, {self.answers} answers"
        )
        # Exact on every table, so what is not known is how the tables of one's own data would look.
        exact = f"exact on {self.tables} tables" if known else "exact"
        kind = exact if self.exact else simulated
        return f"{kind}{known}{'' if self.trusted else '; too few rows to be trusted'}"

    def to_dict(self) -> dict[str, Any]:
        """A plain record."""
        return {
            "name": self.name,
            "default": self.default,
            "median": self.median,
            "rms": self.rms,
            "quantile_90": self.most,
            "uncertainty": dict(zip(("median", "rms", "quantile_90"), self.uncertainty, strict=True)),
            "exact": self.exact,
            "tables": self.tables,
            "simulated_answers": self.answers,
            "interval_width": self.width,
            "interval_width_90": self.most_width,
            "adaptive": self.adaptive,
            "trusted": self.trusted,
            "mechanism": self.mechanism.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """What accuracy a price buys; made by `plan` from public or generated data only.

    Attributes:
        statistic: What would be asked.
        price: What it would cost.
        rows: How many rows were assumed; None where the statistic says how large its data are.
        neighbors: Which datasets the promise compares.
        assumed: Where the columns came from.
        options: Every way to answer, the smallest root mean square error first.
        sampling_error: How much the statistic varies between such samples without any privacy.
        lower_bound: Below this no noise scaled to the same smooth bound can be; None where none is used.
        limit: Below this no mechanism of the price can be, here or on data some people away; None where none is proved.
        hints: Public options that were given.
        seed: Names the generated columns.
        groups: Of how many groups it is asked, each with so many rows.
        span: The error of the default on other columns; None where the caller said what the column is like.
    """

    statistic: Statistic
    price: Guarantee
    rows: int | None
    neighbors: Neighbors
    assumed: Assumed
    options: tuple[Option, ...]
    sampling_error: float
    lower_bound: float | None
    limit: Limit | None
    hints: tuple[tuple[str, Any], ...]
    seed: int
    groups: int | None = None
    span: Span | None = None

    @property
    def default(self) -> Option:
        """The option that a release takes when nothing else is said."""
        return next(option for option in self.options if option.default)

    @property
    def data(self) -> str:
        """What was assumed, in words."""
        origin = "generated" if self.assumed.option() is not None else "public"
        return f"{origin} ({self.assumed.words}, {self.size}), no private data was read"

    @property
    def subject(self) -> str:
        """Whose error it is, in words."""
        if self.statistic.name == "mode":
            return "error of the mode (by how many rows the named key is rarer than the most frequent one)"
        each = "each answer of " if self.statistic.vector else ""
        return f"error of {each}the {self.statistic.name} against the sample's own"

    @property
    def size(self) -> str:
        """How large the data were assumed to be, in words."""
        size = Subject.of(self.statistic).size(self.rows)
        return size if self.groups is None else f"{size} in each of {self.groups} groups"

    @property
    def counts_rows(self) -> bool:
        """Whether the number of rows is asked for: a graph says itself how large it is."""
        return Subject.of(self.statistic).kind not in ("graph", "weights")

    @property
    def verdict(self) -> str:
        """What privacy adds to the error that the sample has anyway."""
        rms, natural = self.default.rms, self.sampling_error
        if natural == 0:
            return (
                "sampling error without privacy: 0; the statistic does not vary between samples of this size"
            )
        added = math.hypot(rms, natural) / natural - 1
        amount = f"privacy adds {100 * added:.2g} % to it"
        if added >= 1:
            amount = f"with privacy the error is {1 + added:.3g} times that"
        free = "; privacy is nearly free" if added < FREE else ""
        return f"sampling error without privacy: {short(natural)}; {amount}{free}"

    def _without_privacy(self, asked: Coverage | None) -> list[str]:
        """How wide the usual interval for the population would be without noise, and what privacy adds to it."""
        if not isinstance(asked, Population) or self.default.width is None or not self.sampling_error:
            return []
        plain = 2 * NormalDist().inv_cdf((1 + asked.level) / 2) * self.sampling_error
        more = max(self.default.width / plain - 1, 0.0)
        amount = (
            f"privacy adds {100 * more:.0f} %" if more < 1 else f"{1 + more:.2g} times as wide with privacy"
        )
        return [f"without privacy such an interval would be about {short(plain)} wide: {amount}"]

    @property
    def choice(self) -> str:
        """Which option a release takes, and why it is not the first where it is not."""
        taken = self.default
        first = next(option for option in self.options if taken.width is None or option.width is not None)
        words = f"* a release takes {taken.name}"
        if first is taken:
            return f"{words}, which has the smallest error here"
        known = math.hypot(first.uncertainty[1], taken.uncertainty[1])
        if taken.rms - first.rms <= max(2 * known, 0.01 * taken.rms):
            return f"{words}; {first.name} is listed first, but no better than these figures are known"
        mode = next((said for said in ("tight=True", "loose=True") if first.name.endswith(f"({said})")), None)
        how = f"{mode} takes it" if mode else f"--mechanism '{first.name}' takes it"
        return (
            f"{words}: it is chosen by public rules that hold for columns of any form. On this assumed column "
            f"{first.name} errs {taken.rms / first.rms:.2g} times less; {how}"
        )

    @property
    def floor(self) -> str | None:
        """What no mechanism can do better, in words; None where nothing is proved."""
        if self.limit is None:
            return None
        people = "1 person" if self.limit.people == 1 else f"{self.limit.people} people"
        if not self.counts_rows:
            one, several = ("vertex", "vertices") if self.neighbors is Neighbors.NODE else ("edge", "edges")
            people = people.replace("person", one).replace("people", several)
        least = f"any mechanism at this price errs by at least {short(self.limit.error)} (rms, proved)"
        if self.limit.error > self.default.rms:
            return (
                f"{least} on data {people} away, if it errs less here: this statistic depends on single rows"
            )
        times = self.default.rms / self.limit.error
        return f"{least} here or on data {people} away; the default is at {times:.2g} times that"

    @property
    def python(self) -> str:
        """The same plan in Python."""
        assume = self.assumed.option()
        rest = "".join(f", {name}={code(value)}" for name, value in self.hints)
        near = "" if self.neighbors is self.statistic.neighbors else f", neighbors=sd.{self.neighbors}"
        given = f'"{assume}"' if assume is not None else "sample"
        rows = f"rows={(self.rows or 0) * (self.groups or 1)}, " if self.counts_rows else ""
        rows += "" if self.groups is None else f"groups={self.groups}, "
        return f"sd.plan({python_call(self.statistic)}, {price_code(self.price)}, {rows}assume={given}{near}{rest})"

    @property
    def command(self) -> str | None:
        """The same plan on the command line; None where an array was given."""
        assume = self.assumed.option()
        if assume is None or "parts" in {field.name for field in fields(self.statistic)}:  # type: ignore[arg-type]
            return None  # neither a sample nor statistics within a statistic can be typed
        words = [
            "sordino",
            "plan",
            self.statistic.name,
            *typed_words(self.statistic),
            *price_words(self.price),
        ]
        words += ["--rows", str((self.rows or 0) * (self.groups or 1))] if self.counts_rows else []
        words += [] if self.groups is None else ["--groups", str(self.groups)]
        words += ["--assume", assume]
        if self.neighbors is not self.statistic.neighbors or self.neighbors is Neighbors.ADD_REMOVE_ONE:
            words += ["--neighbors", self.neighbors.value]
        words += hint_words(self.hints)
        return shlex.join(words)

    def text(self, width: int | None = None) -> str:
        """The plan as text: tables and sentences fit the width, lines to paste stay whole.

        Args:
            width: How wide a line may be; as wide as needed where nothing is said.
        """
        room = None if width is None else max(width - 2, 40)
        head, body = columns(HEAD, self._cells(), width=room, right=range(2, 5))
        notes = [self.verdict]
        if self.default.width is not None:
            asked = Coverage.of(dict(self.hints).get("interval"))
            whose = "" if asked is None else f" (for the {asked.target}, {100 * asked.level:g} times in 100)"
            most = short(self.default.most_width or self.default.width)
            usual = short(self.default.width)
            notes.append(
                f"every error bar{whose} is {usual} wide"
                if usual == most
                else f"half of the error bars{whose} are narrower than {usual}, nine in ten narrower than {most}"
            )
            notes += self._without_privacy(asked)
        if self.lower_bound is not None:
            notes.append(
                "additive noise scaled to the same smooth bound has an rms of at least "
                f"{short(self.lower_bound)} (proved)"
            )
        if self.floor is not None:
            notes.append(self.floor)
        notes += self.span.lines(short) if self.span is not None else []
        notes += [*modes(self, short), self.choice]
        top = [f"data: {self.data}", f"{self.subject}, {self.price!r}, {self.neighbors.value}:"]
        lines = [*wrapped(top, width), *("  " + line for line in (*head, *body)), *wrapped(notes, width)]
        lines.append(f"in Python: {self.python}")
        if self.command is not None:
            lines.append(f"on the command line: {self.command}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def _cells(self) -> list[list[str]]:
        return [
            [
                "*" if option.default else "",
                option.name if self.default.width is None or option.width else f"{option.name}, no bar",
                short(option.median),
                short(option.rms),
                short(option.most),
                "adaptive" if option.adaptive else "fixed",
                option.how,
            ]
            for option in self.options
        ]

    def _repr_html_(self) -> str:
        other = [*(self.span.lines(short) if self.span is not None else []), *modes(self, short)]
        notes = "".join(
            f"<p>{escape(text)}</p>"
            for text in (f"data: {self.data}", self.verdict, self.floor, *other, self.choice, self.python)
            if text is not None
        )
        caption = f"Error of the {self.statistic.name}, {self.price!r}"
        table = html_table(caption, [name or "default" for name in HEAD], self._cells())
        return f"<div>{table}{notes}</div>"

    def to_dict(self) -> dict[str, Any]:
        """A plain record for machines."""
        return {
            "kind": "plan",
            "private_data_read": False,
            "statistic": self.statistic.to_dict(),
            "price": self.price.to_dict(),
            "rows": self.rows,
            "groups": self.groups,
            "neighbors": self.neighbors.value,
            "assumed": self.assumed.to_dict(),
            "hints": {name: typed(value) for name, value in self.hints},
            "seed": self.seed,
            "sampling_error": self.sampling_error,
            "lower_bound": self.lower_bound,
            "limit": None if self.limit is None else {"rms": self.limit.error, "people": self.limit.people},
            "span": None if self.span is None else self.span.to_dict(),
            "options": [option.to_dict() for option in self.options],
            "python": self.python,
            "command": self.command,
        }

    def plot(self) -> Any:
        """Two pictures: the densities of likely answers, and the error against the price with this plan's point."""
        from sordino.planner.figures import picture

        return picture(self)


def wrapped(lines: list[str], width: int | None) -> list[str]:
    """Sentences that fit a width; as they are where none is said."""
    if width is None:
        return lines
    kept = [line.replace(" %", "\0%") for line in lines]  # a number keeps its unit
    parts = [
        textwrap.wrap(line, width, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)
        for line in kept
    ]
    return [part.replace("\0", " ") for some in parts for part in some]


def short(value: float) -> str:
    """Three digits, thousands apart.

    Example:
        >>> short(1234567.0), short(0.012345), short(float("inf"))
        ('1,234,567', '0.0123', 'infinite')
    """
    if math.isinf(value):
        return "infinite"
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}" if abs(value) < 1e12 else f"{value:.3g}"
    return f"{value:.3g}"


def aligned(
    head: tuple[str, ...], rows: list[list[str]], *, right: range = range(2, 5), width: int | None = None
) -> list[str]:
    """Lines of a table: words to the left, figures to the right."""
    top, body = columns(head, rows, width=width, right=right)
    return [*top, *body]
