"""Public data for plans: named shapes with parameters, or a sample that the caller says is public.

Every default is worked out from public bounds. Nothing here opens a file, a source or a session: what looks like
private data is refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.catalogue import find
from sordino.errors import ParameterError, Unsupported

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.statistics import Statistic

    Floats = NDArray[np.float64]
    Random = np.random.Generator

SHORT = 1024  # a declared lattice of at most so many points is taken for ages and the like


def _normal(random: Random, rows: int, p: Mapping[str, float]) -> Floats:
    return random.normal(p["centre"], p["spread"], rows)


def _log_normal(random: Random, rows: int, p: Mapping[str, float]) -> Floats:
    return p["start"] + p["median"] * np.exp(random.normal(0, p["sigma"], rows))


def _uniform(random: Random, rows: int, p: Mapping[str, float]) -> Floats:
    return random.uniform(p["start"], p["end"], rows)


def _heavy_tail(random: Random, rows: int, p: Mapping[str, float]) -> Floats:
    return p["start"] + p["scale"] * (1 + random.pareto(p["tail"], rows))


def _bimodal(random: Random, rows: int, p: Mapping[str, float]) -> Floats:
    first = random.uniform(size=rows) < p["share"]
    return np.where(first, p["first"], p["second"]) + random.normal(0, p["spread"], rows)


def _ages(random: Random, rows: int, p: Mapping[str, float]) -> Floats:
    return np.rint(random.normal(p["centre"], p["spread"], rows) / p["step"]) * p["step"]


def _heaped_pay(random: Random, rows: int, p: Mapping[str, float]) -> Floats:
    pay = _log_normal(random, rows, p)
    rounded = random.uniform(size=rows) < p["share"]
    return np.where(rounded, np.rint(pay / p["heap"]) * p["heap"], pay)


def _power(width: float) -> float:
    """A round number of about a hundredth of the width."""
    return float(10.0 ** np.floor(np.log10(width / 100)))


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a named shape draws, and its defaults for a public range."""

    draw: Callable[[Random, int, Mapping[str, float]], Floats]
    defaults: Callable[[float, float], dict[str, float]]


SHAPES: dict[str, _Kind] = {
    "normal": _Kind(_normal, lambda low, w: {"centre": low + w / 2, "spread": w / 20}),
    "log-normal": _Kind(_log_normal, lambda low, w: {"start": low, "median": w / 10, "sigma": 0.7}),
    "uniform": _Kind(_uniform, lambda low, w: {"start": low, "end": low + w}),
    "heavy-tail": _Kind(_heavy_tail, lambda low, w: {"start": low, "scale": w / 100, "tail": 2.5}),
    "bimodal": _Kind(
        _bimodal,
        lambda low, w: {"first": low + w / 4, "second": low + 3 * w / 4, "spread": w / 20, "share": 0.6},
    ),
    "ages": _Kind(_ages, lambda low, w: {"centre": low + w / 3, "spread": w / 8, "step": 1.0}),
    "heaped-pay": _Kind(
        _heaped_pay,
        lambda low, w: {"start": low, "median": w / 10, "sigma": 0.7, "share": 0.6, "heap": _power(w)},
    ),
}
POSITIVE = ("spread", "sigma", "median", "scale", "tail", "step", "heap")


@dataclass(frozen=True, slots=True)
class Shape:
    """A named public distribution.

    Args:
        name: One of ``SHAPES``.
        parameters: Its parameters; those left out follow from the public bounds.

    Example:
        >>> Shape("normal").on(0, 100).words
        'normal, centre 50, spread 5'
        >>> Shape.read("log-normal:median=40000,sigma=0.8").parameters
        {'median': 40000.0, 'sigma': 0.8}
    """

    name: str
    parameters: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = find("shape", self.name, SHAPES).defaults(0.0, 1.0)
        read = {}
        for name, value in self.parameters.items():
            if name not in known:
                raise ParameterError(
                    self.name, f"has no parameter {name!r}", hint=f"it has {', '.join(known)}"
                )
            given: dict[str, Any] = {name: value}
            check = checks.positive if name in POSITIVE else checks.exact
            read[name] = float(check(self.name, **given))
            if name == "share":
                checks.between(self.name, 0, 1, closed=True, share=value)
        object.__setattr__(self, "parameters", read)

    @classmethod
    def read(cls, text: str) -> Shape:
        """Read ``name`` or ``name:parameter=value,...``; anything like a file is refused."""
        name, _, rest = text.partition(":")
        if name not in SHAPES and (os.sep in text or "." in name or Path(text).exists()):
            raise refusal(got="a path")
        given: dict[str, float] = {}
        for item in filter(None, rest.split(",")):
            key, equals, value = item.partition("=")
            try:
                given[key.strip()] = float(value)
            except ValueError:
                raise ParameterError(
                    "assume", "a parameter is name=number", got={"parameter": item}, hint=f"{name}:sigma=0.5"
                    if equals else "log-normal:median=40000,sigma=0.8",
                ) from None  # fmt: skip
        return cls(name, given)

    def on(self, low: float, high: float) -> Shape:
        """The same shape with every parameter filled in for a public range."""
        defaults = SHAPES[self.name].defaults(low, high - low)
        return Shape(self.name, {**defaults, **self.parameters})

    def draw(self, rows: int, random: Random) -> Floats:
        """Draw a column."""
        return SHAPES[self.name].draw(random, rows, self.parameters)

    @property
    def words(self) -> str:
        """Name and parameters."""
        return ", ".join([self.name, *(f"{name} {value:g}" for name, value in self.parameters.items())])

    def to_dict(self) -> dict[str, Any]:
        """Name and parameters."""
        return {"kind": self.name, **self.parameters}

    def option(self) -> str:
        """As it is typed on the command line."""
        given = ",".join(f"{name}={value:.12g}" for name, value in self.parameters.items())
        return f"{self.name}:{given}" if given else self.name


@dataclass(frozen=True, slots=True, eq=False)
class PublicSample:
    """Values that the caller says are public; columns are drawn from them with replacement."""

    values: Floats

    @classmethod
    def of(cls, given: Any) -> PublicSample:
        """Check that it is a list of numbers."""
        try:
            values = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise refusal(got=type(given).__name__) from None
        if values.ndim != 1 or not values.size or not np.isfinite(values).all():
            raise ParameterError(
                "assume", "a public sample is a list of finite numbers", got={"shape": values.shape}
            )
        return cls(values)

    def on(self, low: float, high: float) -> PublicSample:  # noqa: ARG002
        """The sample does not follow the bounds."""
        return self

    def draw(self, rows: int, random: Random) -> Floats:
        """Draw with replacement."""
        return random.choice(self.values, rows)

    @property
    def words(self) -> str:
        """How many values there are."""
        return f"public sample of {self.values.size:,} values, drawn with replacement"

    def to_dict(self) -> dict[str, Any]:
        """How many values there are."""
        return {"kind": "public-sample", "values": int(self.values.size)}

    def option(self) -> None:
        """A sample cannot be typed on the command line."""


Assumed = Shape | PublicSample


def assumed(given: Any, statistic: Statistic) -> Assumed:
    """Turn what the caller assumes into a source of public columns; refuse whatever could hold private rows.

    Args:
        given: A name, a `Shape`, an array of public values, or None for a shape that suits the bounds.
        statistic: What will be asked; its bounds are public.
    """
    low, high = public_range(statistic)
    if given is None:
        return _usual(statistic, low, high).on(low, high)
    if isinstance(given, Shape | PublicSample):
        return given.on(low, high)
    if isinstance(given, str):
        return Shape.read(given).on(low, high)
    private = isinstance(given, os.PathLike | bytes | Mapping) or any(
        hasattr(given, name) for name in ("summary", "summaries", "release", "ledger", "columns", "collect")
    )
    if private:
        raise refusal(got=type(given).__name__)
    return PublicSample.of(given)


def refusal(*, got: str) -> ParameterError:
    """The error for anything that could be private data."""
    return ParameterError(
        "plan",
        "assume must name a public shape or be a list of public numbers",
        got={"assume": got},
        why="A plan never reads private data: numbers tuned on them would tell of them.",
        hint='assume="log-normal", one of ' + ", ".join(SHAPES),
    )


def _usual(statistic: Statistic, low: float, high: float) -> Shape:
    step = getattr(statistic, "step", None)
    if step is not None and (high - low) / float(step) <= SHORT:
        return Shape("ages", {"step": float(step)})
    return Shape("log-normal" if low >= 0 else "normal")


def public_range(statistic: Statistic) -> tuple[float, float]:
    """The public range in which columns are drawn: the bounds, or what takes their place."""
    parts = getattr(statistic, "parts", None)
    if parts:
        ranges = [public_range(part) for part in parts]
        return min(low for low, _ in ranges), max(high for _, high in ranges)
    low, high = getattr(statistic, "low", None), getattr(statistic, "high", None)
    if not hasattr(statistic, "column") or hasattr(statistic, "keys"):
        raise Unsupported(
            statistic.name,
            "has no plan",
            why="Plans draw one column of numbers; graphs, categories and pairs of columns are not generated.",
            hint="sordino noise shows the noise of every family at a price",
        )
    if low is not None and high is not None:
        return float(low), float(high)
    edges = getattr(statistic, "edges", None)
    if edges:
        return float(edges[0]), float(edges[-1])
    threshold = abs(float(getattr(statistic, "threshold", 0.5))) or 0.5
    return (0.0, 2 * threshold) if getattr(statistic, "threshold", 0.5) >= 0 else (-2 * threshold, 0.0)


def columns_of(statistic: Statistic) -> tuple[str, ...]:
    """The columns that a statistic names."""
    parts: Any = getattr(statistic, "parts", None)
    if parts:
        return tuple(dict.fromkeys(part.column for part in parts))
    return (statistic.column,)  # type: ignore[attr-defined]
