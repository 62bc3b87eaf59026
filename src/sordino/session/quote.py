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
from sordino.errors import ParameterError, SordinoError, Unsupported
from sordino.labels import shown
from sordino.made import changed_by_interval
from sordino.mechanisms import Mechanism
from sordino.mechanisms.choose import choose, output_grid
from sordino.privacy import Guarantee, Neighbors, Unit, compose
from sordino.reading.requests import Blocks, Bundle, Cells, Columns, Condition, Links, Request, Summary
from sordino.reading.traits import Trait
from sordino.session.bars import Bar
from sordino.session.release import Event
from sordino.statistics import Statistic

if TYPE_CHECKING:
    from sordino.lattice import Lattice
    from sordino.mechanisms import Answer
    from sordino.reading.requests import Ask

PERSONS = (Neighbors.REPLACE_ONE, Neighbors.ADD_REMOVE_ONE)


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
    """A priced question: data-free, and the same for everyone who asks it."""

    parts: tuple[Part, ...]
    event: Event
    assumptions: tuple[str, ...]
    single: bool

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
    by: tuple[str, tuple[str | int, ...]] | None = None,
    interval: Coverage | float | None = None,
    mechanism: Mechanism | None = None,
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
        by: Column and public keys of a split.
        interval: What error bars are to cover; a bare number is the probability of one for the sample.
        mechanism: Instead of the default one.
        hints: Further options of `choose`.

    Example:
        >>> from sordino.privacy import Pure
        >>> from sordino.statistics.median import Median
        >>> asked = prepare(Median("income", low=0, high=500_000), Pure(0.5), neighbors=Neighbors.REPLACE_ONE,
        ...                 unit=Unit(), rows=20_000)
        >>> asked.event.guarantee, asked.event.mechanism["kind"]
        (Pure(epsilon=0.5), 'quantile')
    """
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
    coverage = Coverage.of(interval)
    forms = [
        _form(statistic, neighbors, unit, filtered=bool(where), split=by is not None) for statistic in asked
    ]

    def made(each: Coverage | None) -> list[Part]:
        found = []
        for form, cost in zip(forms, prices, strict=True):
            paid = cost if by is None else cost.per_row(form.moved)
            known = _hints(form, rows, by, hints or {}, interval=each)
            exact = None if form.private_rows or by is not None else rows
            bar = None if coverage is None or each is None else Bar(form.statistic, coverage, each, exact)
            contribution = 1 if by is not None else form.moved
            found.append(_part(form.statistic, paid, mechanism, known, contribution, bar))
        return found

    parts = made(coverage)
    if coverage is not None:
        _barred(parts)
        bars = sum(part.bars for part in parts if part.bar is not None) * (1 if by is None else len(by[1]))
        if coverage.each_of(bars) != coverage:
            parts = made(coverage.each_of(bars))
    plain = [_hints(form, rows, by, hints or {}, interval=None) for form in forms]
    changes = []
    if coverage is not None and mechanism is None:
        for part, form, cost, known in zip(parts, forms, prices, plain, strict=True):
            paid = cost if by is None else cost.per_row(form.moved)
            changes.append(changed_by_interval(form.statistic, paid, part.mechanism, known))
    moved = max(form.moved for form in forms)
    total = compose([part.mechanism.guarantee for part in parts])
    event = Event(
        statistic=_together([part.statistic.to_dict() for part in parts], single=single),
        mechanism=_together([part.mechanism.to_dict() for part in parts], single=single),
        neighbors=neighbors,
        unit=unit,
        guarantee=total if by is None or moved == 1 else total.for_group(moved),
        where=tuple(dataclasses.asdict(condition) for condition in where),
        by=None if by is None else {"column": by[0], "keys": list(by[1])},
        contribution=moved,
    )
    told = dict.fromkeys([*_assumptions(parts, event, forms), *filter(None, changes)])
    return Question(tuple(parts), event, tuple(told), single)


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
        bar = Bar(statistic, own, own, None)
    reason = None if bar is None else bar.refusal(chosen, answer)
    free = bar is not None and reason is None and "level" not in answer.public
    if free and isinstance(bar.asked, Sample) and "value" in lattices:  # type: ignore[union-attr]
        lattices |= {"low": lattices["value"], "high": lattices["value"]}
    cells = len(answer.value) if free and isinstance(answer.value, tuple) else 1
    kept = None if reason is not None else bar
    return Part(statistic, chosen, grid, first, contribution, lattices, kept, reason, cells)


def _barred(parts: list[Part]) -> None:
    """Refuse a question none of whose parts has the bar that is asked for; otherwise the others have theirs."""
    if any(part.bar is not None for part in parts):
        return
    raise Unsupported(
        parts[0].statistic.name,
        "has no such error bar",
        why=f"{parts[0].no_bar} Nothing was spent.",
        hint="leave interval= out, or ask sd.plan what error to expect",
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


@dataclass(frozen=True, slots=True)
class _Form:
    """How a statistic is read: under which relation, and how many rows one person moves in it."""

    statistic: Statistic
    moved: int
    private_rows: bool


def _form(statistic: Statistic, neighbors: Neighbors, unit: Unit, *, filtered: bool, split: bool) -> _Form:
    """Fix the relation. Under replace-one, whatever makes the number of rows private is read as removals and additions.

    A filter, a split, dropped rows, and people with several rows each (a person with one row may be replaced by one
    with three) all do so: a replacement is then at most ``max_rows`` removals and as many additions.
    """
    if not isinstance(statistic, Statistic):
        raise ParameterError(
            "release",
            "the first argument is a statistic",
            got={"statistic": type(statistic).__name__},
            hint='sd.Median("income", low=0, high=500_000)',
        )
    if neighbors not in PERSONS:
        if filtered or split or unit.column is not None:
            raise Unsupported("release", f"{neighbors.value} privacy has no filters, groups or units of rows")
        return _Form(_under(statistic, neighbors), 1, private_rows=False)
    if Trait.BLOCKS in statistic.traits:
        return _whole(statistic, neighbors, unit, filtered=filtered, split=split)
    dropped = any(getattr(part, "missing", None) == "drop" for part in _leaves(statistic))
    private = neighbors is Neighbors.REPLACE_ONE and (filtered or split or dropped or unit.max_rows > 1)
    if not private:
        return _Form(_under(statistic, neighbors), unit.max_rows, neighbors is Neighbors.ADD_REMOVE_ONE)
    if Neighbors.ADD_REMOVE_ONE not in statistic.relations:
        reasons = {"a filter": filtered, "groups": split, 'missing="drop"': dropped}
        named = [reason for reason, given in reasons.items() if given] or ["several rows per person"]
        raise Unsupported(
            statistic.name,
            f"cannot be asked with {' and '.join(named)} under replace-one",
            why="The number of rows is then private, and this statistic has no add/remove form.",
            hint="missing=<a number> instead of missing='drop'; no filter and no groups for this statistic",
        )
    return _Form(_under(statistic, Neighbors.ADD_REMOVE_ONE), 2 * unit.max_rows, private_rows=True)


def _whole(statistic: Statistic, neighbors: Neighbors, unit: Unit, *, filtered: bool, split: bool) -> _Form:
    """A function by blocks: each person is in one block, however many rows, and whatever a filter leaves of them.

    In a split a person has a block in every group where there are rows of them: at most ``max_rows``, and a replaced
    person leaves so many and enters so many (docs/proofs/mechanism_blocks.md).
    """
    replaced = neighbors is Neighbors.REPLACE_ONE
    moved = unit.max_rows * (2 if replaced else 1) if split else 1
    fixed = replaced and unit.column is None and not filtered and not split
    asked = dataclasses.replace(statistic, split=split, fixed=fixed)  # type: ignore[type-var]
    return _Form(_under(asked, neighbors), moved, private_rows=not fixed)


def _leaves(statistic: Any) -> list[Statistic]:
    return [leaf for part in statistic.parts for leaf in _leaves(part)] if _nests(statistic) else [statistic]


def _nests(statistic: Any) -> bool:
    """Whether a statistic is made of others."""
    return any(field.name == "parts" for field in dataclasses.fields(statistic))


def _under(statistic: Any, neighbors: Neighbors) -> Statistic:
    """The same statistic for the neighbours of the session."""
    if _nests(statistic):
        parts = tuple(_under(part, neighbors) for part in statistic.parts)
        moved: Statistic = dataclasses.replace(statistic, parts=parts)
    elif statistic.neighbors is neighbors:
        moved = statistic
    elif neighbors not in statistic.relations:
        raise Unsupported(
            statistic.name,
            "has no envelopes for the neighbours of this session",
            got={"neighbors": neighbors.value},
            hint="open the data with neighbors=" + " or ".join(f"sd.{one}" for one in statistic.relations),
        )
    else:
        moved = dataclasses.replace(statistic, neighbors=neighbors)
    return moved


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
    form: _Form,
    rows: int | None,
    by: tuple[str, tuple[str | int, ...]] | None,
    hints: dict[str, Any],
    *,
    interval: Coverage | None,
) -> dict[str, Any]:
    """The options of `choose`: the number of rows is a rough public guess where it is private."""
    known: dict[str, Any] = {}
    if rows is not None:
        known["rows"] = rows if by is None else max(1, rows // max(1, len(by[1])))
    if interval is not None:
        known["interval"] = interval
    known.update({name: value for name, value in hints.items() if value is not None})
    if not form.private_rows and rows is not None:
        known["rows"] = rows  # public and exact: a guess must not replace it
    return known


def rehearse(
    statistic: Statistic, mechanism: Mechanism, grid: Lattice, contribution: int
) -> tuple[Ask, Answer]:
    """Hold the whole conversation on an empty table: find the first request, and let every refusal come now.

    The answer is about nobody; its form tells whether a bar follows from what is published.
    """
    from sordino.data.memory import Memory

    asked: list[Ask] = []

    def ask(request: Ask) -> Summary:
        asked.append(request)
        nothing: dict[str, list[Any]] = {name: [] for name in columns(request)}  # may hold numbers and keys
        return Memory(nothing).summary(request)[0]

    try:
        answer = mechanism.answer(statistic, ask, grid, contribution=contribution)
    except SordinoError:
        raise
    except Exception as problem:
        raise Unsupported(
            statistic.name,
            f"cannot be answered by {mechanism.name}",
            why="The rehearsal on an empty table failed; nothing was spent.",
            hint="another price, such as sd.Pure(0.5), or another mechanism",
        ) from problem
    return asked[0], answer


def columns(request: Ask) -> tuple[str, ...]:
    """The columns that a request names."""
    if isinstance(request, Bundle):
        return tuple(dict.fromkeys(name for part in request.parts for name in columns(part)))
    if isinstance(request, Columns | Blocks):
        return request.columns
    if isinstance(request, Links):
        return tuple(name for name in (request.left, request.right, request.weight) if name)
    assert isinstance(request, Request | Cells)
    return (request.column,)


def _together(described: list[dict[str, Any]], *, single: bool) -> dict[str, Any]:
    return described[0] if single else {"kind": "batch", "parts": described}


def _assumptions(parts: list[Part], event: Event, forms: list[_Form]) -> tuple[str, ...]:
    """What the promise rests on, in sentences."""
    said: list[str] = []
    for part in parts:
        said += part.mechanism.rests_on(part.statistic)
        for leaf in _leaves(part.statistic):
            said += _about(leaf)
    if event.neighbors in PERSONS:
        if event.unit.column is None:
            said.append("One row is one person: nobody has more than one row.")
        else:
            kept = event.unit.max_rows
            whole = event.by is None and all(Trait.BLOCKS in part.statistic.traits for part in parts)
            said.append(
                f"Rows of one {event.unit.column} belong to one person; all of them were in one block."
                if whole
                else f"Rows of one {event.unit.column} belong to one person; of each person at most {kept} "
                f"{'row was' if kept == 1 else 'rows were'} used, chosen by a rule that does not look at values."
            )
    if event.by is not None:
        each = parts[0].mechanism.guarantee if len(parts) == 1 else None
        said.append(
            f"The keys of {event.by['column']} came with the question, not from the data; other rows are left out."
        )
        said.append(
            f"One person's data can move {event.contribution} row{'s' if event.contribution > 1 else ''} over all "
            "groups together, so the groups do not cost more than one"
            + (f": each has {each!r} per row." if each is not None else ".")
        )
    elif (
        event.contribution > 1
        and any(form.private_rows for form in forms)
        and event.neighbors is Neighbors.REPLACE_ONE
    ):
        said.append(
            "The number of rows in this question is private (a filter, dropped rows or several rows per person), so it "
            f"was answered for {event.contribution} added or removed rows per person."
        )
    for part in parts:
        if part.no_bar is not None:
            said.append(f"The {part.statistic.name} has no error bar of the kind asked for: {part.no_bar}")
        if not part.mechanism.trusted:
            said.append("By public numbers alone this answer may be too noisy to be of use at this price.")
        if part.mechanism.proof:
            said.append(f"The proof is in docs/proofs/{part.mechanism.proof}.md.")
    return tuple(dict.fromkeys(said))


def _about(statistic: Any) -> list[str]:
    """What is assumed of a column."""
    low, high = getattr(statistic, "low", None), getattr(statistic, "high", None)
    column = getattr(statistic, "column", None)
    if column is None or low is None or high is None:
        return []
    missing = getattr(statistic, "grid", statistic).missing
    bounds = (
        f"{column} was clamped to between {shown(low)} and {shown(high)}: values outside were set to the nearer bound. "
        "The bounds are public and were not taken from the data."
    )
    said = [bounds]
    if missing == "drop":
        said.append(f"Rows whose {column} is not a number were left out.")
    elif missing is not None:
        said.append(f"Rows whose {column} is not a number count as {shown(missing)}.")
    return said
