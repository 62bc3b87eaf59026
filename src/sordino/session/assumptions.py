"""What the promise of a question rests on, in sentences; all of it public."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.coverage import Sample
from sordino.labels import shown
from sordino.mechanisms import PERSONS
from sordino.privacy import Neighbors
from sordino.reading.split import Split
from sordino.reading.traits import Trait
from sordino.session.form import leaves

if TYPE_CHECKING:
    from sordino.session.form import Form
    from sordino.session.quote import Part
    from sordino.session.release import Event


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
        said.append(
            "The number of rows in this question is private (a filter, dropped rows or several rows per person), so it "
            f"was answered for {event.contribution} added or removed rows per person."
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
