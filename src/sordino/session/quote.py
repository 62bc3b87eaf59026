"""`Question`: everything about a release that is decided before data are touched. The open room of a session.

It fixes the form in which a statistic is read, chooses the mechanism, rehearses the whole conversation on an empty
table (so that whatever can fail fails before anything is spent), and writes down what was asked. No data come in here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.coverage import Coverage, Population, Sample
from sordino.errors import ParameterError, Unsupported
from sordino.made import changed_by_interval
from sordino.mechanisms import Mechanism
from sordino.mechanisms.choose import choose, output_grid
from sordino.privacy import Guarantee, Neighbors, Unit, compose
from sordino.reading.split import Split
from sordino.session.form import Form, assumptions_of, form_of, large_delta, rehearse
from sordino.session.release import Event
from sordino.statistics import Statistic

if TYPE_CHECKING:
    from sordino.lattice import Lattice
    from sordino.reading.requests import Ask, Condition
    from sordino.session.bars import Bar
    from sordino.session.shared import SharedInterval


@dataclass(frozen=True, slots=True)
class Part:
    """One statistic of a question, ready to be answered.

    Attributes:
        statistic: The statistic in the form in which it is read.
        mechanism: What will answer.
        grid: The public lattice on which noise is drawn.
        first: The first thing that the mechanism asks of the data; public.
        contribution: How many rows one person may move, as the mechanism is told.
        lattices: The lattice of every number that is published, by name.
        bar: How its error bar is made, where one is asked for and known.
        no_bar: Why there is none although one was asked for.
        bars: How many independent bars it has per group.
    """

    statistic: Statistic
    mechanism: Mechanism
    grid: Lattice
    first: Ask
    contribution: int
    lattices: Mapping[str, Lattice]
    bar: Bar | None = None
    no_bar: str | None = None
    bars: int = 1


@dataclass(frozen=True, slots=True)
class Question:
    """A priced question: data-free, and the same for everyone who asks it.

    Attributes:
        parts: What is answered.
        event: What was asked, for the ledger.
        assumptions: What it rests on.
        single: Whether one statistic was asked, not a list.
        discovery: What finds the keys of groups, where they are not known beforehand.
        counted: Whether that has counted the people of each key, so that nothing more is drawn.
        shared: How the values of all groups are cut to one interval, where that was asked.
    """

    parts: tuple[Part, ...]
    event: Event
    assumptions: tuple[str, ...]
    single: bool
    discovery: Part | None = None
    counted: bool = False
    shared: SharedInterval | None = None

    @property
    def requests(self) -> tuple[Ask, ...]:
        """What is asked of the data at first."""
        return tuple(part.first for part in self.parts)


def prepare(
    statistics: Statistic | Sequence[Statistic],
    price: Guarantee | Sequence[Guarantee],
    *,
    neighbors: Neighbors,
    unit: Unit,
    rows: int | None = None,
    where: tuple[Condition, ...] = (),
    by: Split | tuple[Any, Any] | None = None,
    interval: Coverage | float | None = None,
    mechanism: Mechanism | None = None,
    scale: str = "own",
    hints: dict[str, Any] | None = None,
) -> Question:
    """Decide everything about a release that does not need data.

    Args:
        statistics: What is asked; several share one pass and one entry in the ledger.
        price: What it may cost one person in all (shared equally by several statistics), or one price each.
        neighbors: The relation of the session.
        unit: Whom it protects.
        rows: Number of rows: public under replace-one, else a declared rough one.
        where: Public conditions that were put on the rows.
        by: Columns and public keys of a split.
        interval: What error bars are to cover; a bare number is the probability of one for the sample.
        mechanism: Instead of the default one.
        scale: Whether every group searches its ``"own"`` interval, or values of all are cut to a ``"shared"`` one.
        hints: Further options of `choose`.

    Example:
        >>> from sordino.privacy import Pure
        >>> from sordino.statistics.median import Median
        >>> asked = prepare(Median("income", low=0, high=500_000), Pure(0.5), neighbors=Neighbors.REPLACE_ONE,
        ...                 unit=Unit(), rows=20_000)
        >>> asked.event.guarantee, asked.event.mechanism["kind"]
        (Pure(epsilon=0.5), 'quantile')
    """
    by = by if by is None or isinstance(by, Split) else Split.of(*by)
    if scale != "own":
        return _shared(
            statistics, price, scale, by, neighbors=neighbors, unit=unit, rows=rows, where=where, interval=interval,
            mechanism=mechanism, hints=hints,
        )  # fmt: skip
    if by is not None and by.discover is not None:
        from sordino.session.discovered import prepare_discovered

        return prepare_discovered(
            statistics, price, by=by, neighbors=neighbors, unit=unit, rows=rows, where=where, interval=interval,
            mechanism=mechanism, hints=hints,
        )  # fmt: skip
    single = isinstance(statistics, Statistic)
    asked = (statistics,) if isinstance(statistics, Statistic) else tuple(statistics)
    prices = _prices(price, asked)
    if mechanism is not None and len(asked) != 1:
        raise ParameterError("release", "a mechanism can be given for one statistic at a time")
    if mechanism is not None and not isinstance(mechanism, Mechanism):
        raise ParameterError(
            "release",
            "mechanism is a mechanism, not its name",
            got={"mechanism": mechanism},
            why="Without one the mechanism is chosen by the statistic and the price, and its noise with it.",
            hint="leave mechanism out; sd.plan(statistic, price, rows=1000) compares what could answer",
        )
    coverage = None if interval is None else Coverage.of(interval)
    forms = [
        form_of(statistic, neighbors, unit, filtered=bool(where), split=by is not None) for statistic in asked
    ]
    for form in forms:
        _few_enough(form.statistic, rows)

    def made(each: Coverage | None) -> list[Part]:
        found = []
        for form, cost in zip(forms, prices, strict=True):
            paid = cost if by is None else cost.per_row(form.moved)
            known = _hints(form, rows, by, hints or {}, interval=each)
            exact = None if form.private_rows or by is not None else rows
            bar = None if coverage is None or each is None else _bar(form.statistic, coverage, each, exact)
            contribution = 1 if by is not None else form.moved
            found.append(_part(form.statistic, paid, mechanism, known, contribution, bar))
        return found

    parts = made(coverage)
    if coverage is not None:
        _barred(parts, population=isinstance(coverage, Population))
        bars = sum(part.bars for part in parts if part.bar is not None) * (1 if by is None else len(by))
        if coverage.each_of(bars) != coverage:
            parts = made(coverage.each_of(bars))
    plain = [_hints(form, rows, by, hints or {}, interval=None) for form in forms]
    changes = []
    if coverage is not None and mechanism is None:
        for part, form, cost, known in zip(parts, forms, prices, plain, strict=True):
            paid = cost if by is None else cost.per_row(form.moved)
            changes.append(changed_by_interval(form.statistic, paid, part.mechanism, known))
    changes += [large_delta(part, rows) for part in parts]
    moved = max(form.moved for form in forms)
    total = compose([part.mechanism.guarantee for part in parts])
    event = Event(
        statistic=_together([part.statistic.to_dict() for part in parts], single=single),
        mechanism=_together([part.mechanism.to_dict() for part in parts], single=single),
        neighbors=neighbors,
        unit=unit,
        guarantee=total if by is None or moved == 1 else total.for_group(moved),
        where=tuple(dataclasses.asdict(condition) for condition in where),
        by=None if by is None else by.record,
        contribution=moved,
    )
    told = dict.fromkeys([*assumptions_of(parts, event, forms), *filter(None, changes)])
    return Question(tuple(parts), event, tuple(told), single)


def _shared(statistics: Any, price: Any, scale: str, by: Split | None, **options: Any) -> Question:
    """The question whose groups share an interval."""
    from sordino.session.shared import SCALES, prepare_shared

    if scale not in SCALES or by is None:
        raise ParameterError(
            "release", "scale is 'own' or 'shared', and for groups", got={"scale": scale},
            hint='release_by("region", keys, sd.Mean("income", low=0, high=500_000), sd.Pure(1), scale="shared")',
        )  # fmt: skip
    return prepare_shared(statistics, price, by=by, **options)


def _bar(statistic: Statistic, asked: Coverage, each: Coverage, rows: int | None) -> Bar:
    """A bar; what makes them is imported for those who ask."""
    from sordino.session.bars import Bar

    return Bar(statistic, asked, each, rows)


def _part(
    statistic: Statistic,
    paid: Guarantee,
    mechanism: Mechanism | None,
    hints: dict[str, Any],
    contribution: int,
    bar: Bar | None,
) -> Part:
    """Choose, check and rehearse the answer to one statistic."""
    chosen = mechanism or choose(statistic, paid, **hints)
    _covered(statistic, chosen)
    if not chosen.guarantee.within(paid):
        raise ParameterError(
            "release",
            "the mechanism costs more than the price",
            got={"mechanism": chosen.guarantee, "price": paid},
        )
    grid = output_grid(statistic)
    first, answer = rehearse(statistic, chosen, grid, contribution)
    lattices = dict(chosen.lattices(statistic, grid))
    if bar is None and "level" in answer.public:  # a mechanism that was given brings its own
        level = answer.public["level"]
        own = Population(level) if chosen.bar_covers == "population" else Sample(level)
        bar = _bar(statistic, own, own, None)
    reason = None if bar is None else bar.refusal(chosen, answer)
    free = bar is not None and reason is None and "level" not in answer.public
    if free and isinstance(bar.asked, Sample) and "value" in lattices:  # type: ignore[union-attr]
        ends = (
            ("interval_low", "interval_high") if "low" in lattices else ("low", "high")
        )  # others are clipping bounds
        lattices |= dict.fromkeys(ends, lattices["value"])
    cells = len(answer.value) if free and isinstance(answer.value, tuple) else 1
    kept = None if reason is not None else bar
    return Part(statistic, chosen, grid, first, contribution, lattices, kept, reason, cells)


def _few_enough(statistic: Statistic, rows: int | None) -> None:
    """Refuse what would fail, or take for ever, after it was paid."""
    most = statistic.most_rows
    if most is not None and rows is not None and rows > most:
        raise Unsupported(
            statistic.name, f"takes {most:,} rows at most", got={"rows": rows},
            why="Its work grows with the square of the number of rows. Nothing was spent.",
            hint="sd.Function runs any estimator on blocks of the rows, such as scipy.stats.theilslopes",
        )  # fmt: skip


def _barred(parts: list[Part], *, population: bool) -> None:
    """Refuse a question none of whose parts has the bar that is asked for; otherwise the others have theirs."""
    if any(part.bar is not None for part in parts):
        return
    from sordino.session.bars import SAMPLE_ONLY

    raise Unsupported(
        parts[0].statistic.name,
        "has no such error bar",
        why=f"{parts[0].no_bar} Nothing was spent.",
        hint=(
            "interval=sd.Sample(0.95) is for the rows; or leave interval= out"
            if population and parts[0].statistic.name in SAMPLE_ONLY
            else "leave interval= out, or ask sd.plan what error to expect"
        ),
    )


def _covered(statistic: Statistic, mechanism: Mechanism) -> None:
    """Refuse a mechanism whose theorem does not cover the statistic, its norm or its neighbours."""
    if not isinstance(mechanism, Mechanism):
        raise ParameterError(
            "release",
            "mechanism= takes a mechanism",
            got={"mechanism": mechanism},
            why="A mechanism is built from public parameters; a name alone has none.",
            hint="leave mechanism= out, or mechanism=InverseSensitivity(price=sd.Pure(1))",
        )
    reason = mechanism.refusal(statistic)
    if reason is not None:
        raise Unsupported(
            statistic.name,
            f"is not covered by the theorem of the mechanism {mechanism.name}",
            got={"neighbors": statistic.neighbors.value},
            why=f"{reason} Nothing was spent.",
            hint="leave mechanism= out: the default has a theorem for this statistic",
        )


def _prices(price: Guarantee | Sequence[Guarantee], asked: tuple[Statistic, ...]) -> tuple[Guarantee, ...]:
    if not asked:
        raise ParameterError("release", "at least one statistic must be asked")
    prices = (price,) if isinstance(price, Guarantee) else price
    if not isinstance(prices, Sequence) or not all(isinstance(one, Guarantee) for one in prices):
        raise ParameterError(
            "release",
            "the second argument is a price",
            got={"price": price},
            why="There is no default price: how much to spend is yours to say.",
            hint="sd.Pure(0.5)",
        )
    for one in prices:
        amount = getattr(one, "epsilon", None) or getattr(one, "rho", None)
        if not amount:
            raise ParameterError(
                "release", "the price must be positive", got={"price": one}, hint="sd.Pure(0.5)"
            )
    if len(prices) == 1 and len(asked) > 1:
        return tuple(prices[0].share(Fraction(1, len(asked))) for _ in asked)
    if len(prices) != len(asked):
        raise ParameterError(
            "release",
            "there must be one price in all or one per statistic",
            got={"statistics": len(asked), "prices": len(prices)},
        )
    return tuple(prices)


def _hints(
    form: Form,
    rows: int | None,
    by: Split | None,
    hints: dict[str, Any],
    *,
    interval: Coverage | None,
) -> dict[str, Any]:
    """The options of `choose`: the number of rows is a rough public guess where it is private."""
    known: dict[str, Any] = {}
    if rows is not None:
        known["rows"] = rows if by is None else max(1, rows // len(by))
    if interval is not None:
        known["interval"] = interval
    known.update({name: value for name, value in hints.items() if value is not None})
    if not form.private_rows and rows is not None:
        known["rows"] = rows  # public and exact: a guess must not replace it
    return known


def _together(described: list[dict[str, Any]], *, single: bool) -> dict[str, Any]:
    return described[0] if single else {"kind": "batch", "parts": described}
