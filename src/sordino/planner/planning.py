"""`plan`: what accuracy a price buys, before any data are touched.

Candidates are tried on public columns (`trial`), summed up (`error_law`) and ranked. There is no argument through
which private data could come.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sordino import checks
from sordino.errors import ParameterError
from sordino.planner.assumed import PublicSample, assumed
from sordino.planner.candidate import Candidate, candidates
from sordino.planner.family import span
from sordino.planner.limit import least_error
from sordino.planner.report import Option, Plan
from sordino.planner.spread import summarise
from sordino.planner.subject import Subject
from sordino.planner.tables import TRAITS, plan_table
from sordino.planner.trial import Trial
from sordino.privacy import Guarantee, Neighbors
from sordino.reading.traits import Trait
from sordino.statistics import Statistic

if TYPE_CHECKING:
    from collections.abc import Callable

    from sordino.planner.assumed import Assumed

BARS = 40  # simulated error bars
TABLES = 24  # public columns on which exact laws are averaged
MANY = (
    256  # tables over which simulated answers go: those of one table tell less than those of as many tables
)
VERTICES = 400_000  # of graphs on which exact laws are averaged
SLOPES = 6_000_000  # pairs of rows on which exact laws are averaged
MOST = 1_000_000  # tables or simulated answers that anybody may ask for
REMEMBERED = 256  # plans; they are made of public things alone
WORK = 400_000  # rows read by simulated answers, so that a table takes seconds


@checks.explained("", call='sd.plan(sd.Median("income", low=0, high=500_000), sd.Pure(0.5), rows=20_000)')
def plan(
    statistic: Statistic,
    price: Guarantee,
    *,
    rows: int | None = None,
    assume: Any = None,
    neighbors: Neighbors | None = None,
    tables: int | None = None,
    draws: int | None = None,
    seed: int = 0,
    only_default: bool = False,
    groups: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **hints: Any,
) -> Plan:
    """Say what error to expect of every mechanism that could answer, on public or generated data only.

    Args:
        statistic: What would be asked.
        price: What it may cost.
        rows: How many rows the data have, roughly; a public sample brings its own number.
        assume: A named shape (``"normal"``, ``"log-normal:sigma=0.5"``), a `Shape`, or a list of public numbers; by
            default a shape that suits the bounds.
        neighbors: Which datasets the promise compares; the statistic's own by default.
        tables: Public tables on which exact laws are averaged; 24 by default, fewer where one takes long.
        draws: Simulated answers where no law is known; by default as many as take a few seconds.
        seed: Names the generated columns.
        only_default: Try nothing but the mechanism that a release would take.
        groups: How many groups it will be asked of: each has its part of the rows, and of the price per row.
        progress: Is called with the steps done and the steps in all.
        hints: The public options of a release: ``centre``, ``spread``, ``tight``, ``interval``, ...

    Example:
        >>> from sordino.privacy import Pure
        >>> from sordino.statistics.median import Median
        >>> found = plan(Median("income", low=0, high=500_000), Pure(0.5), rows=2000, tables=2)
        >>> found.default.name, found.default.rms < 2000, found.options[-1].name
        ('quantile', True, 'laplace (global)')
    """
    if not isinstance(statistic, Statistic):
        raise ParameterError(
            "plan",
            "the first argument is a statistic",
            got={"statistic": type(statistic).__name__},
            why="A plan never reads private data, so it takes no session, source or file.",
            hint='sd.plan(sd.Median("income", low=0, high=500_000), sd.Pure(0.5), rows=20_000)',
        )
    if not isinstance(price, Guarantee):
        raise ParameterError(
            "plan", "the second argument is a price", got={"price": price}, hint="sd.Pure(0.5)"
        )
    asked = (statistic, price, rows, assume, neighbors, tables, draws, seed, only_default, groups)
    named = tuple(sorted(hints.items()))
    # A caller's own function may hold whatever it likes; a list of public numbers has no hash.
    if progress is not None or Trait.BLOCKS in statistic.traits or not _frozen(asked, named):
        return _planned(*asked, named, progress)
    found = _remembered(*asked, named, None)
    # Equal questions may be spelled differently, such as 1 and 1.0.
    return replace(found, statistic=statistic, price=price) if isinstance(found, Plan) else found


def _frozen(*asked: Any) -> bool:
    try:
        hash(asked)
    except TypeError:
        return False
    return True


def _planned(
    statistic: Statistic,
    price: Guarantee,
    rows: int | None,
    assume: Any,
    neighbors: Neighbors | None,
    tables: int | None,
    draws: int | None,
    seed: int,
    only_default: bool,
    groups: int | None,
    named: tuple[tuple[str, Any], ...],
    progress: Callable[[int, int], None] | None,
) -> Plan:
    hints = dict(named)
    if Trait.BLOCKS in statistic.traits:
        from sordino.planner.functions import plan_function

        relation = statistic.neighbors if neighbors is None else Neighbors.of(neighbors)
        return plan_function(  # type: ignore[return-value]
            statistic,  # type: ignore[arg-type]
            price,
            rows=rows,
            neighbors=relation,
            hints=hints,
            groups=groups,
        )
    if TRAITS & statistic.traits:
        relation = statistic.neighbors if neighbors is None else Neighbors.of(neighbors)
        return plan_table(statistic, price, neighbors=relation, **hints)  # type: ignore[return-value]
    shape = assumed(assume, statistic)
    count = size(statistic, rows, shape)
    if groups is not None and count is not None:
        count = max(1, count // checks.whole("plan", at_least=1, hint="groups=4", groups=groups))
    subject = Subject.of(statistic)
    many = SLOPES // count**2 if subject.paired and count else TABLES
    if subject.kind == "graph":
        many = VERTICES // subject.vertices
    tables = min(max(many, 3), TABLES) if tables is None else _bounded(1, tables=tables)
    if draws is not None:
        _bounded(2, draws=draws)
    relation = statistic.neighbors if neighbors is None else Neighbors.of(neighbors)
    found = candidates(
        statistic,
        price,
        rows=count,
        neighbors=relation,
        hints=hints,
        only_default=only_default,
        groups=groups,
    )
    trial = Trial(found[0].part.statistic, shape, rows=count, seed=checks.whole("plan", seed=seed))
    kept = [one for one in found if one.default or _sensible(one, trial)]
    options = []
    for done, candidate in enumerate(kept):
        if progress is not None:
            progress(done, len(kept) + 1)
        options.append(tried(candidate, trial, tables=tables, draws=draws or _draws(candidate, count)))
    if progress is not None:
        progress(len(kept), len(kept) + 1)
    work = (count or 10 * max(subject.vertices, 1)) ** (2 if subject.paired else 1)
    sampling = trial.sampling_error(min(max(4_000_000 // work, 8 if subject.paired else 16), 64))
    usual = assume is None and not only_default
    spread = span(kept[0], trial, tried) if usual else None
    if progress is not None:
        progress(len(kept) + 1, len(kept) + 1)
    return Plan(
        statistic=statistic,
        price=price,
        rows=count,
        neighbors=relation,
        assumed=shape,
        options=tuple(sorted(options, key=lambda one: (one.rms, one.most))),
        sampling_error=sampling,
        lower_bound=_lower_bound(kept, price, trial),
        limit=least_error(kept[0].part, trial, price),
        hints=tuple(sorted(hints.items())),
        seed=seed,
        groups=groups,
        span=spread,
    )


_remembered = lru_cache(maxsize=REMEMBERED)(_planned)


def tried(candidate: Candidate, trial: Trial, *, tables: int, draws: int) -> Option:
    """Try one candidate: exactly where its law is known, by simulated answers otherwise."""
    many = max(tables, min(draws, MANY))  # a simulated answer costs more than its table
    laws = trial.laws(candidate.part, tables=many if candidate.mechanism.searches else tables, draws=draws)
    clipped = laws is not None and candidate.mechanism.searches
    if laws is None:
        spread = summarise(trial.errors(candidate.part, tables=many, draws=draws), tables=many)
    else:
        spread = summarise(laws, tables=many if clipped else None)
    width, most_width = trial.width(candidate.part, tables=tables, draws=min(draws, BARS))
    return Option(
        name=candidate.name,
        mechanism=candidate.mechanism,
        median=spread.median,
        rms=spread.rms,
        most=spread.most,
        uncertainty=(spread.median_error, spread.rms_error, spread.most_error),
        exact=laws is not None and not clipped,
        tables=tables if laws is not None and not clipped else min(many, draws),
        answers=None if laws is not None and not clipped else draws,
        partly=clipped,
        width=width,
        most_width=most_width,
        adaptive=candidate.adaptive,
        default=candidate.default,
        trusted=candidate.mechanism.trusted,
    )


def _bounded(least: int, **named: Any) -> int:
    """A number of repetitions that ends within a lifetime."""
    (name,) = named
    count = checks.whole("plan", at_least=least, hint=f"{name}=100", **named)
    if count > MOST:
        raise ParameterError(
            "plan", f"{name} must be at most {MOST:,}", got=named, why="Each is computed.", hint=f"{name}=100"
        )
    return count


def _draws(candidate: Candidate, rows: int | None) -> int:
    """As many simulated answers as take a few seconds: searches through all rows are slow."""
    least = candidate.mechanism.answers_tried
    return min(max(least * WORK // ((rows or 1) * 24), least), 8 * least)


def size(statistic: Statistic, rows: int | None, shape: Assumed) -> int | None:
    """How many rows are drawn: as asked, as a public sample has, or None for a graph."""
    subject = Subject.of(statistic)
    own = isinstance(shape, PublicSample) and subject.kind not in ("graph", "weights")
    return subject.rows(statistic, len(shape.values) if rows is None and own else rows)  # type: ignore[union-attr]


def _sensible(candidate: Candidate, trial: Trial) -> bool:
    """Leave out smooth noise where the local sensitivity is about the global one: it could only lose."""
    smooth = candidate.mechanism.smooth_noise is not None and not candidate.mechanism.barred
    return not smooth or trial.worth_smoothing(candidate.part)


def _lower_bound(kept: list[Candidate], price: Guarantee, trial: Trial) -> float | None:
    """The proved bound for noise scaled to the smooth bound that the candidates use, on one generated column."""
    from sordino.errors import SordinoError
    from sordino.noise.limit import lower_bound

    for candidate in kept:
        noise = candidate.mechanism.smooth_noise
        if noise is None:
            continue
        laws: Any = trial.law(candidate.part, 0)
        if laws is None:
            continue
        try:
            limit = lower_bound(price, smoothing=noise.smoothing)
        except SordinoError:
            return None
        return limit * float(laws[0].law.scale) / float(noise.scale)
    return None
