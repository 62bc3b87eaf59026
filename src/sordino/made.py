"""How a release was made, in words: the mechanism, what was clamped, and what an interval, a filter or a unit changed.

Everything here was published or is public: the parameters of the mechanism and the by-products that were paid for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sordino import labels
from sordino.labels import shown
from sordino.privacy import Guarantee, Neighbors

if TYPE_CHECKING:
    from sordino.mechanisms import Mechanism
    from sordino.session.release import Event, Release
    from sordino.statistics import Statistic

WRAPPERS = ("mechanism", "point", "inner")
"""Where a mechanism that adds an interval keeps the one that answers."""


def how_it_was_made(release: Release) -> list[str]:
    """Sentences about the mechanism, clamping, the interval, the filter and the privacy unit."""
    event = release.event
    names = labels.statistics(event)
    mechanisms = labels.parts(event.mechanism)
    lines = []
    for name, described in zip(names, mechanisms, strict=True):
        lines.append(f"{name}: {_mechanism(described)}.")
    if event.by is not None and "discovery" in event.by:
        lines.append(f"The keys were found by {drawn_by(event.by['drawn_by'])}.")
    lines += clamped(release)
    lines += listing(release)
    lines += [changed(event)]
    return list(dict.fromkeys(line for line in lines if line))


def answering(mechanism: Mapping[str, Any]) -> Mapping[str, Any]:
    """The mechanism that draws the answer itself, inside one that adds an interval."""
    for name in WRAPPERS:
        inner = mechanism.get(name)
        if isinstance(inner, Mapping) and "kind" in inner:
            return answering(inner)
    return mechanism


def for_the_worst_case(answers: Mapping[str, Any]) -> bool:
    """Whether additive noise is scaled to the bounds, whatever the data: its scale is public then."""
    return bool(answers.get("calibration", {}).get("method") == "global")


def drawn_by(mechanism: Mapping[str, Any]) -> str:
    """What draws an answer, in a few words: ``quantile``, ``additive (laplace) with an interval``."""
    inner = answering(mechanism)
    noise = inner.get("calibration", {}).get("noise", {}).get("kind")
    words = f"{inner['kind']} ({noise})" if noise else str(inner["kind"])
    return words if inner is mechanism else f"{words} with an interval"


def _mechanism(described: Mapping[str, Any]) -> str:
    """What drew the answer, and what an interval cost."""
    inner = answering(described)
    noise = inner.get("calibration", {}).get("noise", {}).get("kind")
    words = f"drawn by the mechanism {inner['kind']}" + (f" with {noise} noise" if noise else "")
    if for_the_worst_case(inner):
        words += ", made for the worst case within the bounds"
    if inner is described:
        return words
    paid = inner.get("price") or inner.get("calibration", {}).get("guarantee")
    if "price" in described and described["price"] is None:
        return f"{words}; its interval cost nothing, because this noise is public"
    if isinstance(paid, Mapping) and "kind" in paid:
        return f"{words} for {Guarantee.from_dict(dict(paid))!r}; the rest of the price paid for the interval"
    return f"{words}; its interval was paid from the same price"


def listing(release: Release) -> list[str]:
    """What is known of cells that are not listed."""
    found = []
    for _, public in _by_products(release.public):
        if "threshold" in public and "below" in public:
            found.append(
                f"Cells are listed whose noisy count is at least {_told(public['threshold'])}. A cell that is not "
                f"listed has fewer than {_told(public['below'])} people, in 95 of 100 such releases."
            )
    return found


TOLD = ("low", "high", "whole", "searched", "rows_beyond", "keys", "threshold", "below")
"""By-products that say to what values were clamped."""
WORDS = {
    "anchor": "a noisy row inside the column, from which the answer was looked for",
    "centre": "a noisy centre of the rows",
    "fits": "whether the bounds were found to fit",
    "magnitude": "the noisy order of magnitude of the column",
    "mean": "a noisy mean, about which squares were taken",
    "rows": "a noisy number of rows",
    "rows_away": "a noisy number of rows away from that centre",
}
"""What other by-products are."""


def clamped(release: Release) -> list[str]:
    """To which intervals values were clamped before they were added up, and other by-products that were paid for."""
    names = labels.statistics(release.event)
    intervals: dict[str, list[str]] = {}
    declared: dict[str, str] = {}
    others: dict[str, list[str]] = {}
    for label, public in _by_products(release.public):
        group, place = label.rsplit("/", 1) if len(names) > 1 and "/" in label else (label, "0")
        if len(names) > 1 and "/" not in label:
            group, place = "", label
        which = names[int(place)] if place.isdigit() and int(place) < len(names) else names[0]
        where = f"{group}: " if group else ""
        if not public.get("searched", True):
            declared[which] = f"{_told(public['low'])} to {_told(public['high'])}"  # the same for all groups
        elif "low" in public and "high" in public:
            intervals.setdefault(which, []).append(where + _cut(public))
        rest = {key: value for key, value in public.items() if key not in TOLD}
        if rest:
            told = ", ".join(
                f"{WORDS.get(key, key.replace('_', ' '))}: {_told(value)}" for key, value in rest.items()
            )
            others.setdefault(which, []).append(where + told)
    return [
        *(
            f"{which}: values were clamped to the declared bounds, {ends}, and to nothing shorter: no interval was "
            "looked for, and the whole price went into the noise."
            for which, ends in declared.items()
        ),
        *(
            f"{which}: before they were added up, values were clamped to an interval that was found privately, is "
            f"public and was paid for. {'; '.join(each)}."
            for which, each in intervals.items()
        ),
        *(
            f"{which}: by-products of the search, also public and paid for. {'; '.join(each)}."
            for which, each in others.items()
        ),
    ]


def _cut(public: Mapping[str, Any]) -> str:
    """To what values were clamped, and what is known about rows beyond.

    Example:
        >>> _cut({"whole": False, "low": 0.0, "high": 245549.0, "rows_beyond": 31.0})[:68]
        '0 to 245,549; in at least 95 of 100 such releases fewer than 31 rows'
    """
    ends = f"{_told(public['low'])} to {_told(public['high'])}"
    if public.get("whole"):
        return f"{ends}, the declared bounds: nothing was cut, as no far shorter interval was found that the rows fill"
    if "rows_beyond" not in public:
        return (
            f"{ends}; how many rows lie beyond is not known, and what was cut of them is missing in the answer "
            "(tight=True cuts nothing; a count of them has a free interval)"
        )
    return (
        f"{ends}; in at least 95 of 100 such releases fewer than {_told(public['rows_beyond'])} rows lie beyond, and "
        "what was cut of them is missing in the answer (tight=True cuts nothing)"
    )


def _by_products(public: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """By-products by where they belong: of a single answer, or of ``group/place``."""
    if not public:
        return []
    if all(isinstance(value, Mapping) and "number" not in value for value in public.values()):
        return list(public.items())
    return [("", public)]


def _told(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return str(value.get("number", dict(value)))
    return shown(value)


def changed_by_interval(
    statistic: Statistic, price: Guarantee, taken: Mechanism, hints: Mapping[str, Any]
) -> str | None:
    """A sentence where asking for an interval changed the mechanism: the answer alone would be drawn by another."""
    from sordino.errors import SordinoError
    from sordino.mechanisms.choose import choose

    try:
        alone = choose(statistic, price, **hints).to_dict()["kind"]
    except SordinoError:
        return None
    drawn = answering(taken.to_dict())["kind"]
    if alone == drawn or {alone, drawn} == {"geometric", "additive"}:  # the same noise on whole numbers
        return None
    return (
        f"{labels.name(statistic.to_dict())}: asking for an interval changed the mechanism to {drawn}; without one it "
        f"would be {alone}."
    )


def changed(event: Event) -> str:
    """What a filter, groups or a privacy unit changed in the mechanism or its price."""
    if event.contribution == 1 or event.neighbors not in (Neighbors.REPLACE_ONE, Neighbors.ADD_REMOVE_ONE):
        return ""
    causes = []
    if event.where:
        causes.append("the filter")
    if event.by is not None:
        causes.append("the groups")
    if event.unit.max_rows > 1:
        causes.append(f"the {event.unit.max_rows} rows of each {event.unit.column or 'person'}")
    if not causes:
        causes.append("leaving out rows")
    return (
        f"Because of {' and '.join(causes)} one person can move {event.contribution} rows, so that each row had "
        f"{_fraction(event.contribution)} of the price; otherwise the noise would be smaller."
    )


def _fraction(rows: int) -> str:
    return {2: "half", 3: "a third", 4: "a quarter", 5: "a fifth"}.get(rows, f"1/{rows}")
