"""The laws of a mechanism: it has cases, it covers what it answers, and the replay does not refute its promise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sordino.testing.draw_laws import drawn_as_reckoned
from sordino.testing.group_laws import grouped_as_alone
from sordino.testing.joint_draws import drawn_together
from sordino.testing.survey import chosen, survey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sordino.mechanisms import Mechanism


def covered(kind: type[Mechanism]) -> Iterator[str]:
    """Every case is about a statistic that its theorem covers, and its price is stated beforehand."""
    for case in chosen(kind):
        reason = case.mechanism.refusal(case.world.statistic)
        if reason is not None:
            yield f"{case.label}: {reason}"
        if not case.mechanism.proof:
            yield f"{kind.name} names no proof"


def replayed(kind: type[Mechanism]) -> Iterator[str]:
    """Both relations, one and several rows per person, every kind of price."""
    for seen in survey(kind):
        yield from (
            f"{seen.case.label}, {seen.contribution} rows per person: {one}" for one in seen.replay.problems
        )


LAWS = {
    "cases within the theorem": covered,
    "the price is kept on every path (replay)": replayed,
    "real draws follow the laws of the replay": drawn_as_reckoned,
    "many groups are answered as each alone": grouped_as_alone,
    "draws for many groups follow the laws of single ones": drawn_together,
}
