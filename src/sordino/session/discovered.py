"""Groups whose keys are found in the data: the question that finds them, and the one that is asked of each.

The open room: what is decided here is decided before anything is spent. Found keys are published, so whatever follows
is a release by public keys at its own price; the two prices add up.
"""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.coverage import Coverage
from sordino.errors import ParameterError, Unsupported
from sordino.mechanisms.choose import check_options, output_grid
from sordino.privacy import Approx, ApproxConcentrated, Concentrated, Pure, compose
from sordino.session.bars import Bar
from sordino.session.quote import Part, Question, prepare
from sordino.statistics import Statistic
from sordino.statistics.count import Count
from sordino.statistics.keys import Keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sordino.mechanisms import Answer
    from sordino.privacy import Guarantee
    from sordino.reading.split import Split

SHARE = Fraction(1, 4)
"""What finds keys where something else is asked of each: below a tenth few keys are left."""


def prepare_discovered(statistics: Any, price: Any, *, by: Split, **options: Any) -> Question:
    """The question of a release by keys that are to be found; the arguments are those of `prepare`."""
    found = by.discover
    assert found is not None
    whole = _priced(price)
    check_options(options.get("hints") or {})  # where keys come with their counts, nobody else would look
    single = isinstance(statistics, Statistic)
    asked = (statistics,) if isinstance(statistics, Statistic) else tuple(statistics)
    coverage = Coverage.of(options.get("interval"))
    if coverage is not None and coverage.simultaneous:
        raise Unsupported(
            "release", "simultaneous bars need keys that are known beforehand", got={"keys": "discover"},
            why="How many bars there will be is not known before the keys are found.",
            hint="interval=sd.Sample(0.95), each group by itself",
        )  # fmt: skip
    counted = (
        len(asked) == 1
        and isinstance(asked[0], Count)
        and options["unit"].max_rows == 1
        and options.get("mechanism") is None
        and found.share is None
    )
    share = found.share or (Fraction(1) if counted else SHARE)
    present = asked[0].column if counted else None
    keys = Keys(by.columns, max_keys=found.max_keys, passes=found.passes, present=present)
    shared = {name: options[name] for name in ("neighbors", "unit", "rows", "where") if name in options}
    bar = coverage if counted else None
    first = prepare(keys, _part_of(whole, share), interval=bar, **shared)
    (finding,) = first.parts
    if counted:
        question = _counting(first, finding, asked[0], by, single=single, coverage=coverage)
    else:
        if options.get("rows") is not None:
            options = {**options, "rows": None}  # how many rows a group has is not known beforehand
        rest = prepare(statistics, _rest_of(whole, share), by=replace(by, discover=None), **options)
        question = replace(
            rest, event=replace(rest.event, guarantee=compose([first.event.guarantee, rest.event.guarantee]))
        )
    said = [line for line in question.assumptions if not line.startswith("The keys of ")]
    event = replace(
        question.event,
        by={**by.record, "drawn_by": finding.mechanism.to_dict()},
    )
    told = tuple(dict.fromkeys([*first.assumptions[:-1], *said, *first.assumptions[-1:]]))
    return dataclasses.replace(question, event=event, assumptions=told, discovery=finding, counted=counted)


def _counting(
    first: Question, finding: Part, count: Any, by: Split, *, single: bool, coverage: Coverage | None
) -> Question:
    """The draw that finds a key has counted its people: nothing more is asked."""
    form = replace(count, neighbors=finding.statistic.neighbors)
    part = replace(
        finding,
        statistic=form,
        grid=output_grid(form),
        bar=None if coverage is None else Bar(form, coverage, coverage, None),
        no_bar=None,
    )
    event = replace(
        first.event,
        statistic=form.to_dict() if single else {"kind": "batch", "parts": [form.to_dict()]},
        mechanism=first.event.mechanism if single else {"kind": "batch", "parts": [first.event.mechanism]},
        by=by.record,
    )
    return Question((part,), event, first.assumptions, single)


def _priced(price: Any) -> Guarantee:
    """One price in all; it needs a delta, which finds keys."""
    if isinstance(price, list | tuple):
        if len(price) != 1:
            raise ParameterError(
                "discover", "takes one price in all", got={"prices": len(price)}, hint="sd.Approx(1, 1e-6)"
            )
        (price,) = price
    if isinstance(price, Approx | ApproxConcentrated):
        return price
    from sordino.mechanisms.discovery.discovery import Discovery

    return Discovery(price=price).guarantee  # which says why there is none


def _part_of(price: Guarantee, share: Fraction) -> Guarantee:
    """The price of finding keys: all of delta."""
    if isinstance(price, ApproxConcentrated):
        return ApproxConcentrated(price.rho * share, price.delta)
    assert isinstance(price, Approx)
    return Approx(price.epsilon * share, price.delta)


def _rest_of(price: Guarantee, share: Fraction) -> Guarantee:
    """What is left to answer with."""
    if isinstance(price, ApproxConcentrated):
        return Concentrated(price.rho * (1 - share))
    assert isinstance(price, Approx)
    return Pure(price.epsilon * (1 - share))


def by_key(answer: Answer) -> list[Sequence[Answer]]:
    """The answers of every group, where the discovery has counted its people."""
    assert isinstance(answer.value, tuple)
    each = []
    for place, value in enumerate(answer.value):
        public = {
            name: ends[place] if isinstance(ends, tuple) else ends
            for name, ends in answer.public.items()
            if name != "keys"
        }
        each.append(replace(answer, value=value, public=public))
    return [each]
