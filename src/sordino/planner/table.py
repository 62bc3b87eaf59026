"""One generated table for a statistic: its columns, keys or edges, drawn from what was assumed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.planner.assumed import PublicSample

if TYPE_CHECKING:
    from sordino.planner.assumed import Assumed
    from sordino.planner.subject import Subject


def drawn(
    subject: Subject, assumed: Assumed, rows: int | None, random: np.random.Generator
) -> dict[str, np.ndarray[Any, Any]]:
    """Draw a table by name of column.

    Example:
        >>> from sordino.planner.assumed import assumed
        >>> from sordino.planner.subject import Subject
        >>> from sordino.statistics.mode import Mode
        >>> mode = Mode("region", keys=("north", "south"))
        >>> table = drawn(Subject.of(mode), assumed("weights:south=1", mode), 3, np.random.default_rng(0))
        >>> table["region"].tolist()
        ['south', 'south', 'south']
    """
    if subject.kind == "graph":
        edges = (
            assumed.values if isinstance(assumed, PublicSample) else assumed.draw(subject.vertices, random)
        )
        return dict(zip(subject.names, np.asarray(edges).T, strict=True))
    assert rows is not None
    if subject.kind == "weights":
        left, right = np.array(subject.topology, np.int64).T
        return dict(zip(subject.names, (left, right, assumed.draw(rows, random)), strict=True))
    if subject.kind == "categories":
        return {subject.names[0]: _categories(subject, assumed, rows, random)}
    if isinstance(assumed, PublicSample):
        found = assumed.draw(rows, random)
        return dict(zip(subject.names, found.T if found.ndim == 2 else [found], strict=True))
    if assumed.of == "columns":
        found = assumed.draw((rows, len(subject.names)), random)
        return {
            name: (low + high) / 2 + (high - low) * found[:, place]
            for place, (name, (low, high)) in enumerate(zip(subject.names, subject.ranges, strict=True))
        }
    return {
        name: assumed.on(*ends).draw(rows, random)
        for name, ends in zip(subject.names, subject.ranges, strict=True)
    }


def _categories(
    subject: Subject, assumed: Assumed, rows: int, random: np.random.Generator
) -> np.ndarray[Any, Any]:
    whole = all(isinstance(key, int) for key in subject.keys)
    if isinstance(assumed, PublicSample):
        found = assumed.draw(rows, random)
        return np.array(found.tolist(), np.int64 if whole else object)
    place = assumed.draw((rows, subject.keys), random)
    # One entry more than there are keys: what rows outside all of them hold.
    if whole:
        return np.array([*subject.keys, max(map(int, subject.keys)) + 1], np.int64)[place]
    other = "other"
    while other in subject.keys:
        other += "."
    return np.array([*map(str, subject.keys), other], object)[place]
