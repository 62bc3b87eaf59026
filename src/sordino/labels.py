"""What every published number is called: statistic, column, parameters, cell. From public records alone.

A label says what tells two answers apart: ``quantile income (q 0.25)``. Parameters at their defaults are left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sordino.session.release import Event

CELLS = ("qs", "edges", "keys", "radii", "parts", "outputs")
"""Fields that name the numbers of a vector."""
READING = ("low", "high", "step", "missing", "bits", "envelope", "flows")
"""Fields that say how a column is read; they name an answer only where nothing else tells two apart."""
COLUMNS = ("column", "y", "x", "left", "right", "weight")
"""Fields that hold the name of a column."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a vector.

    Attributes:
        name: What stands in a table: ``18 to 65``, ``north``.
        low: Lower edge, for a cell between edges.
        high: Upper edge.
        statistic: What the number is, where it is a statistic of its own: a quantile, a part of a vector.
    """

    name: str
    low: float | None = None
    high: float | None = None
    statistic: Mapping[str, Any] | None = None


def shown(value: Any) -> str:
    """A released value for people: whole, with thousands apart and seven digits.

    Example:
        >>> shown(41870.0), shown((1.0, 2.5)), shown(None), shown(float("inf"))
        ('41,870', '(1, 2.5)', 'no answer', 'infinite')
    """
    if isinstance(value, tuple | list):
        return f"({', '.join(shown(item) for item in value)})"
    if value is None:
        return "no answer"
    if isinstance(value, str | bool):
        return str(value)
    number = float(value)
    if not math.isfinite(number):
        return "infinite" if number > 0 else "-infinite" if number < 0 else "not a number"
    if number == int(number) and abs(number) < 1e15:
        return f"{int(number):,}"
    if abs(number) >= 1e6:
        return f"{number:,.1f}" if abs(number) < 1e15 else f"{number:.6e}"
    return f"{number:,.7g}" if abs(number) >= 1e-4 else f"{number:.6e}"


def statistics(event: Event) -> list[str]:
    """A name for each statistic that was asked, no two alike: ``median income``, ``quantile income (q 0.25)``."""
    asked = parts(event.statistic)
    names = [name(part) for part in asked]
    if len(set(names)) < len(names):
        names = [name(part, everything=True) if names.count(short) > 1 else short
                 for part, short in zip(asked, names, strict=True)]  # fmt: skip
    return [
        f"{each}, no. {names[: place + 1].count(each)}" if names.count(each) > 1 else each
        for place, each in enumerate(names)
    ]


def parts(statistic: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The statistics of a batch, or the one."""
    return list(statistic["parts"]) if statistic.get("kind") == "batch" else [statistic]


def name(statistic: Mapping[str, Any], *, everything: bool = False) -> str:
    """What a statistic is called.

    Example:
        >>> name({"kind": "quantile", "column": "income", "q": {"fraction": "1/4"}, "low": 0, "high": 9})
        'quantile income (q 0.25)'
    """
    given = parameters(statistic, everything=everything)
    words = f"{statistic.get('kind', 'statistic')} {column(statistic) or ''}".strip()
    return f"{words} ({spelled(given)})" if given else words


def spelled(given: Mapping[str, Any]) -> str:
    """Parameters in words: ``q 0.25, rule nearest``."""
    return ", ".join(f"{key.replace('_', ' ')} {_word(value)}" for key, value in given.items())


def column(statistic: Mapping[str, Any]) -> str | None:
    """The column, or the columns, that a statistic reads."""
    if isinstance(statistic.get("label"), str):  # a function, or a value of the caller's own
        return str(statistic["label"])
    if isinstance(statistic.get("columns"), list | tuple):
        return ", ".join(map(str, statistic["columns"]))
    named = [str(statistic[key]) for key in COLUMNS if isinstance(statistic.get(key), str)]
    return " ".join(named) or None


def parameters(statistic: Mapping[str, Any], *, everything: bool = False) -> dict[str, Any]:
    """The parameters that name a statistic: those that must be given, and others that differ from the default."""
    if "label" in statistic:
        return {}
    usual = _defaults(str(statistic.get("kind")))
    left_out = {
        "kind",
        "neighbors",
        "windows",
        "columns",
        "levels",
        "leaves",
        "margins",
        "max_keys",
        "passes",
        *COLUMNS,
        *CELLS,
        *(() if everything else READING),
    }
    found = {}
    for key, value in statistic.items():
        if key in left_out or value is None or (not everything and key.endswith(("_low", "_high"))):
            continue
        number = plain_number(value)
        if key not in usual or plain_number(usual[key]) != number:
            found[key] = number
    return found


def cells(statistic: Mapping[str, Any], size: int) -> list[Cell]:
    """The names of the numbers of a vector, in their order.

    Example:
        >>> [cell.name for cell in cells({"kind": "histogram", "edges": [0, 18, 65]}, 2)]
        ['0 to 18', '18 to 65']
    """
    found: list[Cell] = []
    if "qs" in statistic:
        rest = {key: value for key, value in statistic.items() if key not in ("qs", "kind")}
        found = [
            Cell(shown(plain_number(q)), statistic={"kind": statistic["kind"], "q": q, **rest})
            for q in statistic["qs"]
        ]
    elif "edges" in statistic:
        edges = [plain_number(edge) for edge in statistic["edges"]]
        found = [Cell(f"{shown(a)} to {shown(b)}", float(a), float(b)) for a, b in pairwise(edges)]
    elif "radii" in statistic:
        radii = [plain_number(radius) for radius in statistic["radii"]]
        found = [Cell(f"farther than {shown(radius)}", float(radius)) for radius in radii]
    elif statistic.get("kind") == "means":
        found = [Cell(str(name)) for name in statistic["columns"]]
    elif "parts" in statistic:
        found = [Cell(name(part), statistic=part) for part in statistic["parts"]]
    elif "outputs" in statistic:
        found = [Cell(str(output)) for output in statistic["outputs"]]
    elif "margins" in statistic:
        named = [[str(one) for one in keys if one is not None] for keys in table_cells(statistic)]
        found = [Cell(", ".join(keys) or "total") for keys in named]
    elif "keys" in statistic:
        found = [Cell(str(key)) for key in statistic["keys"]]
    return found if len(found) == size else [Cell(str(place + 1)) for place in range(size)]


def table_cells(statistic: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """The keys of every cell of a table and its margins, in order; None where a margin sums over an axis.

    Example:
        >>> asked = {"columns": ["r", "s"], "levels": [["n"], ["f", "m"]], "margins": [[], ["s"]]}
        >>> list(table_cells(asked))
        [(None, None), (None, 'f'), (None, 'm')]
    """
    if "leaves" in statistic:
        yield from _nodes(statistic)
        return
    more = ["(other)"] if statistic.get("other") else []
    levels = [[*level, *more] for level in statistic["levels"]]
    for margin in statistic["margins"]:
        axes = [
            level if name in margin else [None]
            for name, level in zip(statistic["columns"], levels, strict=True)
        ]
        yield from product(*axes)


def _nodes(statistic: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """The keys of every node of a hierarchy, level by level; None below it."""
    from sordino.statistics.hierarchy import nodes

    width = len(statistic["columns"])
    for margin in statistic["margins"]:
        for node in nodes(statistic["leaves"], len(margin)):
            yield (*node, *(None,) * (width - len(node)))


def key(value: Any) -> str:
    """The name of a key, or of a combination of keys.

    Example:
        >>> key("north"), key(["north", "f", 3])
        ('north', 'north, f, 3')
    """
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def plain_number(value: Any) -> Any:
    """A field of a record as a number: ``{"fraction": "1/4"}`` is 0.25."""
    if isinstance(value, Mapping) and "fraction" in value:
        from fractions import Fraction

        text = str(value["fraction"])
        return float(text) if "inf" in text else float(Fraction(text))
    return value


def _word(value: Any) -> str:
    if isinstance(value, Mapping):
        return name(value) if "kind" in value else spelled(value)
    if isinstance(value, list | tuple) and value and isinstance(value[0], list | tuple):
        return f"of {len(value)}"  # a topology: its edges are public, and too many for a name
    return shown(value)


def _defaults(kind: str) -> dict[str, Any]:
    """The defaults of a statistic's fields; those of an unknown one are not known."""
    from sordino.statistics import REGISTER

    found = REGISTER.known.get(kind) or REGISTER.get(kind)
    if found is None:
        return {}
    return {field.name: field.default for field in fields(found) if field.default is not MISSING}  # type: ignore[arg-type]
