"""Errors of real answers, and whether a plan agrees with them.

Answers go the way of a release, `part.mechanism.answer`. Several are drawn from each table, whose summaries and
readings are kept meanwhile: the same questions about the same rows have the same answers, and envelopes take longest.
Both sides are made as precise as a planted error of 30 % needs, at a price that is set beforehand.

A plan that is exact on its tables is held against answers on the same tables, where the two differ by the luck of the
answers alone; other plans, and in the slow tests all of them, against answers on fresh tables.
"""

import contextlib
import dataclasses
import math
import os
from unittest import mock

import numpy as np

from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.mechanisms import Mechanism
from sordino.mechanisms.clip.family import Family
from sordino.planner import plan
from sordino.planner.assumed import assumed
from sordino.planner.subject import Subject
from sordino.planner.table import drawn
from sordino.planner.trial import Trial
from sordino.privacy import Unit
from sordino.session.quote import prepare
from sordino.statistics import Numeric

WITHIN = 0.08
PLANTED = 1.3
HEAVY = 0.75  # normal and Laplace noise have 0.61
PLANS = 40, 400  # tables and simulated answers of a first plan
ANSWERS = 640  # real answers after which it is known how many are needed
RESAMPLED = 200
CHECKED = 12  # tables on which the value is also worked out by the slow definition


@dataclasses.dataclass(frozen=True)
class Precision:
    """Relative standard errors at which neither side is asked for more, and how many times more it is at most."""

    plan: float = 0.021
    answers: float = 0.026
    more: float = 5

    @property
    def both(self):
        """Of answers on the very tables of a plan: all that differs is theirs."""
        return math.hypot(self.plan, self.answers)


def defined(statistic, table):
    """The statistic by its own slow definition, in real units, one number per coordinate; scores for a mode."""
    columns = [np.asarray(column) for column in table.values()]
    if isinstance(statistic, Numeric):
        rows = statistic.grid.codes(columns[0].astype(float)).tolist()
    elif len(columns) == 1:
        rows = columns[0].tolist()
    else:
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
    return in_units(statistic, statistic.define(rows))


def in_units(statistic, value):
    values = value if isinstance(value, tuple) else (value,)
    return np.array([float(statistic.units.real(one)) for one in values])


@contextlib.contextmanager
def kept_readings(statistic):
    """Within this block a summary is read once by each statistic of these kinds, however often it is answered.

    The intervals of a default mean are weighed once too: that takes most of its time, and draws nothing.
    """
    kept, weighed, weigh = {}, {}, Family.weigh

    def weigh_once(self, ends):
        key = self, ends.first.tobytes(), ends.last.tobytes(), ends.rows
        if key not in weighed:
            if len(weighed) >= 16:
                weighed.clear()
            weighed[key] = weigh(self, ends)
        return weighed[key]

    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(Family, "weigh", weigh_once))
        for kind in {type(one) for one in (statistic, *getattr(statistic, "parts", ()))}:
            plain = kind.read

            def read(self, summary, plain=plain):
                if (self, id(summary)) not in kept:
                    if len(kept) >= 16:
                        kept.clear()
                    kept[self, id(summary)] = plain(self, summary), summary  # a kept summary keeps its id
                return kept[self, id(summary)][0]

            stack.enter_context(mock.patch.object(kind, "read", read))
        yield


@dataclasses.dataclass
class Releases:
    """Real answers to one question, table after table."""

    statistic: object
    price: object
    relation: object
    rows: int | None
    shape: object = None
    hints: dict = dataclasses.field(default_factory=dict)
    seed: int = 987

    def __post_init__(self):
        hints = {name: value for name, value in self.hints.items() if name != "interval"}
        question = prepare(
            self.statistic, self.price, neighbors=self.relation, unit=Unit(), rows=self.rows, hints=hints,
            interval=self.hints.get("interval"),
        )  # fmt: skip
        (self.part,) = question.parts
        self.source, self.subject = assumed(self.shape, self.statistic), Subject.of(self.statistic)
        self.bits, self.random = SeededBits(self.seed), np.random.default_rng(self.seed + 1)
        # A profile takes as long as many draws from it; who asks several times has none.
        mechanism = self.part.mechanism
        plain = type(mechanism).answer is Mechanism.answer and mechanism.needs == ("profile",)
        self.per_table = 16 if plain else 8
        self.tables = 0

    def table(self, place=None):
        """Sizes of the errors of several answers on one table: a row each, a column per coordinate.

        The table is a fresh one, or the one that has this place in a plan.
        """
        part = self.part
        rows = self.subject.rows(self.statistic, self.rows)
        random = self.random if place is None else np.random.default_rng([0, place, rows or 0])
        data = drawn(self.subject, self.source, rows, random)
        memory, known = Memory(data), {}

        def ask(request):
            if request not in known:
                known[request] = memory.summary(request)[0]
            return known[request]

        truth = in_units(
            part.statistic, part.statistic.read(ask(part.statistic.request(depth=1))).open().value
        )
        if self.tables < CHECKED:
            assert np.allclose(truth, defined(part.statistic, data), rtol=1e-12)
            assert place is None or np.array_equal(truth, self.planned_truth(place))
        self.tables += 1
        errors = []
        for _ in range(self.per_table):
            answer = part.mechanism.answer(
                part.statistic, ask, part.grid, bits=self.bits, contribution=part.contribution
            )
            if "key" in answer.public:
                errors.append([truth.max() - truth[part.statistic.keys.index(answer.public["key"])]])
            else:
                value = answer.value if isinstance(answer.value, tuple) else (answer.value,)
                errors.append(np.array([float(one) for one in value]) - truth)
        return np.abs(np.array(errors, dtype=float))

    def planned_truth(self, place):
        """The statistic on a table of a plan, as the plan has it."""
        rows = self.subject.rows(self.statistic, self.rows)
        trial = Trial(self.part.statistic, self.source, rows=rows)
        return np.atleast_1d(np.array(trial._floats(trial.truth(place))))

    def errors(self, answers):
        """The same on several fresh tables: table, answer, coordinate."""
        with kept_readings(self.part.statistic):
            return np.array([self.table() for _ in range(-(-answers // self.per_table))])

    def errors_on_planned(self, tables, answers):
        """The same on all tables of a plan."""
        per_table, self.per_table = self.per_table, max(-(-answers // tables), 1)
        with kept_readings(self.part.statistic):
            found = np.array([self.table(place) for place in range(tables)])
        self.per_table = per_table
        return found


@dataclasses.dataclass
class Measured:
    """Median, root mean square and 90 % quantile of real errors.

    Attributes:
        found: The three figures.
        uncertain: Their standard errors, by resampling whole tables, or the answers of each where tables are given.
        step: How far a quantile may jump: one where errors are whole numbers.
    """

    found: np.ndarray
    uncertain: np.ndarray
    step: np.ndarray
    answers: int
    tables: int

    @classmethod
    def of(cls, errors, *, given=False):
        random = np.random.default_rng(3)
        tables, answers = errors.shape[:2]

        def resampled():
            if given:
                chosen = random.integers(answers, size=(tables, answers))
                return errors[np.arange(tables)[:, None], chosen]
            return errors[random.integers(tables, size=tables)]

        again = [three(resampled().ravel()) for _ in range(RESAMPLED)]
        jump = np.array([1.0, 0.0, 1.0]) * np.array_equal(errors, np.rint(errors))
        return cls(
            np.array(three(errors.ravel())), np.std(again, axis=0), jump, errors.shape[0] * errors.shape[1],
            len(errors),
        )  # fmt: skip

    def sharpness(self, option):
        """The smallest relative standard error of a figure that can reject a planted error, steps included."""
        return _sharpest(option, self.found, self.uncertain + self.step / 2)


def _sharpest(option, found, uncertain):
    useful = compared(option) & (found > 0)
    return min(uncertain[useful] / found[useful], default=1.0)


def three(sizes):
    return np.median(sizes), np.sqrt(np.mean(sizes**2)), np.quantile(sizes, 0.9)


def compared(option):
    """Which of the three figures tell how large the errors are.

    Where the tails are so heavy that the root mean square depends on answers that a few thousand draws have not seen,
    the quantiles alone are compared.
    """
    heavy = option.most > 0 and option.rms > HEAVY * option.most
    return np.array([True, not heavy, True])


def agree(option, measured, *, planted=1.0):
    """Whether all three predicted figures are within eight per cent of the measured ones and their uncertainty.

    Whole numbers jump, so a quantile may also be one step away.
    """
    predicted = planted * np.array([option.median, option.rms, option.most])
    known = planted * np.array(option.uncertainty)
    slack = 2 * np.hypot(measured.uncertain, known)
    fine = np.abs(predicted - measured.found) <= WITHIN * measured.found + slack + measured.step
    return bool(fine[compared(option)].all())


def least_rejected(option, measured):
    """The smallest planted factors, up and down, that are rejected."""
    steps = np.arange(1.0, 2.5, 0.005)
    up = next((step for step in steps if not agree(option, measured, planted=step)), np.inf)
    down = next((step for step in steps if not agree(option, measured, planted=1 / step)), np.inf)
    return up, down


def planned(releases, precision, *, fresh):
    """The default option of a plan of the same releases, from as many tables as its figures need.

    One that is exact is told apart by its tables being given: then there is nothing uncertain about it.
    """
    # What is simulated, or exact given a simulated search, tells most when every table is another one.
    searched = releases.part.mechanism.searches

    def option(times):
        tables, draws = (round(count * times) for count in PLANS)
        return plan(
            releases.statistic, releases.price, rows=releases.rows, neighbors=releases.relation,
            assume=releases.shape, only_default=True, draws=draws, tables=draws if searched else tables,
            **releases.hints,
        ).default  # fmt: skip

    first = option(1)
    if first.exact and not fresh:
        return dataclasses.replace(first, uncertainty=(0.0, 0.0, 0.0))
    sharp = _sharpest(first, np.array([first.median, first.rms, first.most]), np.array(first.uncertainty))
    times = min((sharp / precision.plan) ** 2, precision.more)
    return first if times <= 1 else option(times)


def measured(option, releases, precision, *, fresh):
    """The errors of real answers, as many as their figures need."""
    given = option.exact and not fresh
    wanted = precision.both if given else precision.answers
    errors = releases.errors_on_planned(option.tables, ANSWERS) if given else releases.errors(ANSWERS)
    found = Measured.of(errors, given=given)
    times = min((found.sharpness(option) / wanted) ** 2, precision.more)
    if times <= 1:
        return found
    more = round((times - 1) * ANSWERS)
    others = releases.errors_on_planned(option.tables, more) if given else releases.errors(more)
    return Measured.of(np.concatenate([errors, others], axis=1 if given else 0), given=given)


def check(statistic, price, relation, *, rows, shape=None, hints=None, precision=None, seed=987, fresh=False):
    """A plan agrees with real answers, and would not if it were 30 % off in either direction.

    `fresh` asks for fresh tables even where the plan is exact on its own.
    """
    hints, precision = hints or {}, precision or Precision()
    releases = Releases(statistic, price, relation, rows, shape=shape, hints=hints, seed=seed)
    option = planned(releases, precision, fresh=fresh)
    assert releases.part.mechanism == option.mechanism
    found = measured(option, releases, precision, fresh=fresh)
    said = option.median, option.rms, option.most, option.uncertainty
    assert agree(option, found), (said, found)
    for planted in (PLANTED, 1 / PLANTED):
        assert not agree(option, found, planted=planted), (planted, said, found)
    if os.environ.get("SORDINO_POWER"):
        up, down = least_rejected(option, found)
        print(f"power {statistic.name} {relation.value} {option.name} {up:.3f} {down:.3f}")
    return option
