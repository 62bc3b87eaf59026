"""The form of a question: how its statistics are read, that they can be answered at all, and what the promise rests on.

Under which relation a statistic is read, and how many rows one person moves in it, is decided here alone, by public
facts: the relation and unit of the session, filters, groups, what happens to missing rows. A rehearsal on an empty
table finds whatever can fail before anything is spent. No data come here.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.coverage import Sample
from sordino.errors import ParameterError, SordinoError, Unsupported
from sordino.exact.bits import SeededBits
from sordino.labels import shown
from sordino.mechanisms import PERSONS
from sordino.privacy import Neighbors
from sordino.reading.requests import Blocks, Bundle, Cells, Columns, Combinations, Links, Request, Summary
from sordino.reading.split import Split
from sordino.reading.traits import Trait
from sordino.statistics import Statistic

if TYPE_CHECKING:
    from sordino.lattice import Lattice
    from sordino.mechanisms import Answer, Mechanism
    from sordino.privacy import Unit
    from sordino.reading.requests import Ask
    from sordino.session.quote import Part
    from sordino.session.release import Event


REMEMBERED = 256  # questions; each holds public things only


@dataclass(frozen=True, slots=True)
class Form:
    """How a statistic is read: under which relation, and how many rows one person moves in it."""

    statistic: Statistic
    moved: int
    private_rows: bool


def form_of(statistic: Statistic, neighbors: Neighbors, unit: Unit, *, filtered: bool, split: bool) -> Form:
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
        return Form(_under(statistic, neighbors), 1, private_rows=False)
    if Trait.KEYS in statistic.traits:
        return _people(statistic, neighbors, unit, split=split)
    if Trait.BLOCKS in statistic.traits:
        return _whole(statistic, neighbors, unit, filtered=filtered, split=split)
    dropped = any(getattr(part, "missing", None) == "drop" for part in leaves(statistic))
    private = neighbors is Neighbors.REPLACE_ONE and (filtered or split or dropped or unit.max_rows > 1)
    if not private:
        return Form(_under(statistic, neighbors), unit.max_rows, neighbors is Neighbors.ADD_REMOVE_ONE)
    if Neighbors.ADD_REMOVE_ONE not in statistic.relations:
        reasons = {"a filter": filtered, "groups": split, 'missing="drop"': dropped}
        named = [reason for reason, given in reasons.items() if given] or ["several rows per person"]
        raise Unsupported(
            statistic.name,
            f"cannot be asked with {' and '.join(named)} under replace-one",
            why="The number of rows is then private, and this statistic has no add/remove form.",
            hint="missing=<a number> instead of missing='drop'; no filter and no groups for this statistic",
        )
    return Form(_under(statistic, Neighbors.ADD_REMOVE_ONE), 2 * unit.max_rows, private_rows=True)


def _whole(statistic: Statistic, neighbors: Neighbors, unit: Unit, *, filtered: bool, split: bool) -> Form:
    """A function by blocks: each person is in one block, however many rows, and whatever a filter leaves of them.

    In a split a person has a block in every group where there are rows of them: at most ``max_rows``, and a replaced
    person leaves so many and enters so many (docs/proofs/mechanism_blocks.md).
    """
    replaced = neighbors is Neighbors.REPLACE_ONE
    moved = unit.max_rows * (2 if replaced else 1) if split else 1
    fixed = replaced and unit.column is None and not filtered and not split
    asked = dataclasses.replace(statistic, split=split, fixed=fixed)  # type: ignore[type-var]
    return Form(_under(asked, neighbors), moved, private_rows=not fixed)


def _people(statistic: Any, neighbors: Neighbors, unit: Unit, *, split: bool) -> Form:
    """Keys count people, not rows: one person moves as many of them as count, whatever a filter leaves."""
    if split:
        raise Unsupported(
            statistic.name, "has no groups", hint='several columns at once: sd.Keys(("region", "town"))'
        )
    most = 1 if unit.column is None else min(unit.max_rows, statistic.max_keys)
    return Form(_under(dataclasses.replace(statistic, max_keys=most), neighbors), most, private_rows=False)


def leaves(statistic: Any) -> list[Statistic]:
    """The statistics of which one is made, or itself."""
    return [leaf for part in statistic.parts for leaf in leaves(part)] if _nests(statistic) else [statistic]


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


def rehearse(
    statistic: Statistic, mechanism: Mechanism, grid: Lattice, contribution: int
) -> tuple[Ask, Answer]:
    """Hold the whole conversation on an empty table: find the first request, and let every refusal come now.

    The answer is about nobody; its form tells whether a bar follows from what is published. A question that passed is
    remembered by its public parameters, so that a release is drawn once when it is asked again. A caller's own function
    is not: it may hold whatever it likes.
    """
    if Trait.BLOCKS in mechanism.asks or not _frozen(statistic, mechanism):
        return _held(statistic, mechanism, grid, contribution)
    # The key 1 equals the key True; their texts do not.
    text = json.dumps([statistic.to_dict(), mechanism.to_dict()], default=repr)
    return _remembered(statistic, mechanism, grid, contribution, text)


def _frozen(*asked: Any) -> bool:
    try:
        hash(asked)
    except TypeError:  # a plug-in's own class
        return False
    return True


def _held(
    statistic: Statistic,
    mechanism: Mechanism,
    grid: Lattice,
    contribution: int,
    text: str | None = None,  # noqa: ARG001 -- tells apart what compares equal
) -> tuple[Ask, Answer]:
    from sordino.data.memory import Memory

    asked: list[Ask] = []

    def ask(request: Ask) -> Summary:
        asked.append(request)
        empty: Any = np.zeros(0) if isinstance(request, Request) else []  # a list may hold numbers and keys
        nothing = dict.fromkeys(columns(request), empty)
        return Memory(nothing).summary(request)[0]

    try:
        # Nobody is protected here, and the bits of a release must not depend on what was rehearsed before it.
        answer = mechanism.answer(statistic, ask, grid, contribution=contribution, bits=SeededBits(0))
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


_remembered = lru_cache(maxsize=REMEMBERED)(_held)


def columns(request: Ask) -> tuple[str, ...]:
    """The columns that a request names."""
    if isinstance(request, Bundle):
        return tuple(dict.fromkeys(name for part in request.parts for name in columns(part)))
    if isinstance(request, Columns | Blocks):
        return request.columns
    if isinstance(request, Combinations):
        return tuple(dict.fromkeys((*request.columns, *request.present)))
    if isinstance(request, Links):
        return tuple(name for name in (request.left, request.right, request.weight) if name)
    assert isinstance(request, Request | Cells)
    return (request.column,)


def large_delta(part: Part, rows: int | None) -> str | None:
    """A warning where keys are to be found and delta is so large that somebody's own may well be shown."""
    delta = getattr(part.mechanism.guarantee, "delta", Fraction(0))
    if Trait.KEYS not in part.statistic.traits or rows is None or delta * rows <= 1:
        return None
    return (
        f"A delta of {float(delta):g} with about {rows:,} rows is large: if all of them had keys of their own, one or "
        "more would be shown on average. One far below one in the number of people is safer."
    )


def assumptions_of(parts: list[Part], event: Event, forms: list[Form]) -> tuple[str, ...]:
    """What the promise rests on, in sentences."""
    said: list[str] = []
    for part in parts:
        said += part.mechanism.rests_on(part.statistic)
        for leaf in leaves(part.statistic):
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
            f"The keys of {Split.from_record(event.by).name} came with the question, not from the data; other rows are "
            "left out."
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
        causes = [
            *(["a filter"] if event.where else []),
            *(["several rows per person"] if event.unit.max_rows > 1 else []),
        ]
        why = " and ".join(causes) or "rows are left out"
        said.append(
            f"The number of rows in this question is private ({why}), so it was "
            f"answered for {event.contribution} added or removed rows per person."
        )
    for part in parts:
        if part.bar is not None and part.statistic.name == "function" and isinstance(part.bar.asked, Sample):
            said.append(
                "The interval of a function is for the population that the people were drawn from, although one for "
                "the rows was asked for: no other is known."
            )
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
    column, capped = getattr(statistic, "column", None), getattr(statistic, "max_degree", None)
    if capped is not None:
        return [
            f"Of the edges of one vertex at most {shown(capped)} count; where a vertex has more, fewer are published."
        ]
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
