"""`Shape`: named public laws from which plans draw columns, categories and graphs.

Every default is worked out from public bounds. Public samples live in `assumed`, whole tables in `table`. Nothing
here opens a file, a source or a session.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.catalogue import find
from sordino.errors import ParameterError
from sordino.planner import graph_shape

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Random = np.random.Generator


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


def _correlated(random: Random, size: tuple[int, int], p: Mapping[str, float]) -> Floats:
    """Normal columns, each correlated with the first; in units of the width, about 0."""
    rows, columns = size
    found = random.normal(size=(rows, columns))
    along = p["correlation"]
    found[:, 1:] = along * found[:, :1] + np.sqrt(1 - along**2) * found[:, 1:]
    return p["spread"] * found


def _zipf(random: Random, size: tuple[int, Sequence[Any]], p: Mapping[str, float]) -> NDArray[np.int64]:
    """Places of keys: the k-th is 1/k^exponent times as likely as the first; outside all keys is one place more."""
    rows, keys = size
    weights = 1 / np.arange(1, len(keys) + 1) ** p["exponent"]
    chances = np.append((1 - p["outside"]) * weights / weights.sum(), p["outside"])
    return random.choice(len(keys) + 1, rows, p=chances)


def _weights(random: Random, size: tuple[int, Sequence[Any]], p: Mapping[str, float]) -> NDArray[np.int64]:
    """Places of keys, each as likely as its weight says."""
    rows, keys = size
    weights = np.array([p.get(str(key), 0.0) for key in keys])
    return random.choice(len(keys), rows, p=weights / weights.sum())


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a named shape draws, its defaults for a public range (or number of vertices), and what it draws."""

    draw: Callable[[Any, Any, Mapping[str, float]], Any]
    defaults: Callable[[float, float], dict[str, float]]
    of: str = "column"


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
    "correlated": _Kind(_correlated, lambda _, __: {"correlation": 0.7, "spread": 0.1}, "columns"),
    "zipf": _Kind(_zipf, lambda _, __: {"exponent": 1.0, "outside": 0.0}, "categories"),
    "weights": _Kind(_weights, lambda _, __: {}, "categories"),  # one parameter per key
    "random-graph": _Kind(
        graph_shape.random_graph, lambda n, _: {"degree": min(10.0, max(n - 1, 0) / 2)}, "graph"
    ),
    "scale-free": _Kind(graph_shape.scale_free, lambda n, _: {"attach": min(5.0, max(n // 4, 1))}, "graph"),
    "communities": _Kind(
        graph_shape.communities, lambda n, _: {"size": min(20.0, n), "inside": 0.4, "outside": 0.02}, "graph"
    ),
}
POSITIVE = ("spread", "sigma", "median", "scale", "tail", "step", "heap", "size")
SHARES = ("share", "inside", "outside")


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
            if name not in known and self.name != "weights":
                raise ParameterError(
                    self.name, f"has no parameter {name!r}", hint=f"it has {', '.join(known)}"
                )
            given: dict[str, Any] = {name: value}
            if self.name == "weights":
                read[name] = float(checks.non_negative(self.name, weight=value))
                continue
            check = checks.positive if name in POSITIVE else checks.exact
            read[name] = float(check(self.name, **given))
            if name in SHARES:
                checks.between(self.name, 0, 1, closed=True, **given)
            if name == "correlation":
                checks.between(self.name, -1, 1, closed=True, **given)
            if name in ("degree", "attach", "exponent"):
                checks.non_negative(self.name, **given)
        object.__setattr__(self, "parameters", read)

    @classmethod
    def read(cls, text: str) -> Shape:
        """Read ``name`` or ``name:parameter=value,...``; anything like a file is refused."""
        name, _, rest = text.partition(":")
        if name not in SHAPES and (os.sep in text or "." in name or Path(text).exists()):
            from sordino.planner.assumed import refusal

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

    @property
    def of(self) -> str:
        """What it draws: a column, correlated columns, categories or a graph."""
        return SHAPES[self.name].of

    def on(self, low: float, high: float) -> Shape:
        """The same shape with every parameter filled in for a public range."""
        defaults = SHAPES[self.name].defaults(low, high - low)
        return Shape(self.name, {**defaults, **self.parameters})

    def draw(self, size: Any, random: Random) -> Any:
        """Draw a column of so many rows; rows and columns, rows and keys, or the edges of so many vertices."""
        return SHAPES[self.name].draw(random, size, self.parameters)

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
