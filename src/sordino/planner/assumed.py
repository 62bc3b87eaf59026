"""What a plan assumes of the data: a named shape, or a sample that the caller says is public.

Whatever looks like private data is refused: a plan reads no file, no source and no session.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import ParameterError
from sordino.planner.shape import SHAPES, Shape
from sordino.planner.subject import Subject

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.statistics import Statistic

SHORT = 1024  # a declared lattice of at most so many points is taken for ages and the like
FITTING = {
    "column": ("column",),
    "columns": ("correlated", "column"),
    "categories": ("categories",),
    "graph": ("graph",),
    "weights": ("column",),
}
SAMPLES = {
    "column": "a list of finite numbers",
    "columns": "a table of finite numbers with one column per column of the statistic",
    "categories": "a list of texts or whole numbers",
    "graph": "a list of edges, each a pair of vertices",
    "weights": "a list of finite numbers",
}


@dataclass(frozen=True, slots=True, eq=False)
class PublicSample:
    """Values that the caller says are public: rows are drawn with replacement, a graph is taken as it is."""

    values: NDArray[Any]
    of: str = "column"

    @classmethod
    def read(cls, given: Any, subject: Subject) -> PublicSample:
        """Check that it is what the statistic reads."""
        try:
            values = (
                np.asarray(given, dtype=object)
                if subject.kind == "categories"
                else np.asarray(given, dtype=np.float64)
            )
        except (TypeError, ValueError):
            raise refusal(got=type(given).__name__) from None
        wide = {"columns": len(subject.names), "graph": 2}.get(subject.kind)
        fine = values.ndim == (1 if wide is None else 2) and values.size > 0
        if fine and subject.kind == "categories":
            fine = all(isinstance(one, str | int | np.integer) for one in values.tolist())
        elif fine:
            fine = bool(np.isfinite(values).all()) and (wide is None or values.shape[1] == wide)
        if not fine:
            raise ParameterError(
                "assume", f"a public sample is {SAMPLES[subject.kind]}", got={"shape": values.shape}
            )
        return cls(values, subject.kind)

    def draw(self, size: int, random: np.random.Generator) -> NDArray[Any]:
        """Draw rows with replacement."""
        return self.values[random.integers(len(self.values), size=size)]

    @property
    def words(self) -> str:
        """How many values there are."""
        if self.of == "graph":
            return f"public graph of {len(self.values):,} edges, taken as it is"
        what = "rows" if self.of == "columns" else "values"
        return f"public sample of {len(self.values):,} {what}, drawn with replacement"

    def to_dict(self) -> dict[str, Any]:
        """How many values there are."""
        return {"kind": "public-sample", "values": len(self.values)}

    def option(self) -> None:
        """A sample cannot be typed on the command line."""


Assumed = Shape | PublicSample


def assumed(given: Any, statistic: Statistic) -> Assumed:
    """Turn what the caller assumes into a source of public tables; refuse whatever could hold private rows.

    Args:
        given: A name, a `Shape`, a public sample, or None for a shape that suits the bounds.
        statistic: What will be asked; its bounds are public.

    Example:
        >>> from sordino.statistics.categories import Categories
        >>> assumed(None, Categories("region", keys=("north", "south"))).words
        'zipf, exponent 1, outside 0'
    """
    subject = Subject.of(statistic)
    if given is None:
        return _placed(_usual(statistic, subject), subject)
    if isinstance(given, PublicSample):
        return PublicSample.read(given.values, subject)
    if isinstance(given, str):
        given = Shape.read(given)
    if isinstance(given, Shape):
        _fits(given, statistic, subject)
        return _placed(given, subject)
    private = isinstance(given, os.PathLike | bytes | Mapping) or any(
        hasattr(given, name) for name in ("summary", "summaries", "release", "ledger", "columns", "collect")
    )
    if private:
        raise refusal(got=type(given).__name__)
    return PublicSample.read(given, subject)


def refusal(*, got: str) -> ParameterError:
    """The error for anything that could be private data."""
    return ParameterError(
        "plan",
        "assume must name a public shape or be a list of public numbers",
        got={"assume": got},
        why="A plan never reads private data: numbers tuned on them would tell of them.",
        hint='assume="log-normal", one of ' + ", ".join(SHAPES),
    )


def _usual(statistic: Statistic, subject: Subject) -> Shape:
    if subject.kind == "categories":
        return Shape("zipf")
    if subject.kind == "graph":
        return Shape("random-graph")
    if subject.kind == "columns":
        return Shape("correlated")
    ((low, high),) = subject.ranges
    step = getattr(statistic, "step", None)
    if step is not None and (high - low) / float(step) <= SHORT:
        return Shape("ages", {"step": float(step)})
    return Shape("log-normal" if low >= 0 else "normal")


def _placed(shape: Shape, subject: Subject) -> Shape:
    """Fill in parameters where one range decides them; several columns are placed each on its own."""
    if subject.kind == "graph":
        return shape.on(subject.vertices, subject.vertices)
    if shape.of == "column" and len(set(subject.ranges)) > 1:
        return shape
    return shape.on(*(subject.ranges[0] if subject.ranges else (0.0, 1.0)))


def _fits(shape: Shape, statistic: Statistic, subject: Subject) -> None:
    """Refuse a graph where a column is asked for, and weights of keys that are not asked for."""
    fitting = [
        name
        for name, kind in SHAPES.items()
        if kind.of in FITTING[subject.kind] or name in FITTING[subject.kind]
    ]
    if shape.name not in fitting:
        raise ParameterError(
            "plan", f"the shape does not suit the {statistic.name}", got={"assume": shape.name},
            why=f"It reads {SAMPLES[subject.kind].removeprefix('a ')}.", hint="one of " + ", ".join(fitting),
        )  # fmt: skip
    if shape.name == "weights":
        known = {str(key) for key in subject.keys}
        if not shape.parameters or not set(shape.parameters) <= known or not sum(shape.parameters.values()):
            raise ParameterError(
                "plan", "weights are given to the public keys", got={"assume": shape.option()},
                hint="weights:" + ",".join(f"{key}=1" for key in subject.keys[:3]),
            )  # fmt: skip
