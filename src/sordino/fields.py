"""The fields of a statistic as a person fills them in: what is asked, what it is called, how a text becomes a value.

Command line and page read fields here, so that no option, help text or rule is written twice. No data come here.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from sordino.docstrings import described as descriptions
from sordino.docstrings import sentence
from sordino.errors import ParameterError
from sordino.privacy import (
    Approx,
    ApproxConcentrated,
    Concentrated,
    Geo,
    Guarantee,
    Pure,
    TruncatedConcentrated,
)

EXAMPLES = {
    "column": "income", "low": "0", "high": "500000", "q": "0.5", "qs": "0.25,0.5,0.75", "trim": "0.05",
    "f": "my_module:gini", "columns": "income",
    "levels": "'north,south;f,m'",
    "keys": "north,south", "edges": "0,18,65,120", "threshold": "50000", "vertices": "100",
}  # fmt: skip
"""What stands for a field in an example."""


def asked(kind: type[Any]) -> list[dataclasses.Field[Any]]:
    """The fields that are the user's to set: not the relation, and not what the name of the statistic fixes.

    Example:
        >>> from sordino.statistics.count import Count
        >>> [field.name for field in asked(Count)]
        ['column']
    """
    return [field for field in dataclasses.fields(kind) if field.init and _is_asked(kind, field)]


def _is_asked(kind: type[Any], field: dataclasses.Field[Any]) -> bool:
    fixed = field.name == "q" and not required(field)
    return field.name != "neighbors" and not fixed and kind.name != "" and "hidden" not in field.metadata


def nested(kind: type[Any]) -> bool:
    """Whether a statistic is made of others, and so cannot be filled in field by field."""
    return any("Numeric" in str(field.type) for field in dataclasses.fields(kind))


def required(field: dataclasses.Field[Any]) -> bool:
    """Whether a field has no default."""
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def positional(field: dataclasses.Field[Any]) -> bool:
    """Whether a field is named without its name: a column."""
    named = str(field.type) == "str" or "argument" in field.metadata or "positional" in field.metadata
    return named and required(field)


def described(field: dataclasses.Field[Any], kind: type) -> str:
    """What a field is, in the first sentence of its description; the docstrings are where it is written."""
    text = sentence(descriptions(kind).get(field.name, field.name.replace("_", " ").capitalize()))
    return text if required(field) or field.default in (None, ()) else f"{text} [default: {field.default}]"


def read(field: dataclasses.Field[Any], text: str | None) -> Any:
    """Read a text by the type of its field; None stays None."""
    if text is None:
        return None
    kind = str(field.type)
    if field.name == "levels":
        return tuple(_level(one) for one in text.split(";"))
    if field.name == "leaves":
        return _paths(text)
    if field.name == "margins":
        sets = [one.strip() for one in text.split(";")]
        if sets == ["all"]:
            return "all"
        return tuple(() if one == "total" else tuple(one.split(",")) for one in sets)
    if kind.startswith("tuple[tuple"):
        return tuple(
            tuple(read_one("int", field.name, end) for end in pair.split("-")) for pair in text.split(",")
        )
    if kind.startswith("tuple"):
        return tuple(read_one(kind, field.name, item.strip()) for item in text.split(","))
    return read_one(kind, field.name, text)


def _level(text: str) -> tuple[str | int, ...]:
    """Keys of one axis: whole numbers where all are, else texts; ``0..93`` is every whole number from 0 to 93.

    Example:
        >>> _level("north,south"), _level("1,2"), _level("0..3")
        (('north', 'south'), (1, 2), (0, 1, 2, 3))
    """
    ends = re.fullmatch(r"\s*(-?\d+)\.\.(-?\d+)\s*", text)
    if ends:
        return tuple(range(int(ends[1]), int(ends[2]) + 1))
    keys = [key.strip() for key in text.split(",")]
    whole = all(re.fullmatch(r"-?\d+", key) for key in keys)
    return tuple(int(key) for key in keys) if whole else tuple(keys)


def _paths(text: str) -> tuple[tuple[str | int, ...], ...]:
    """Paths of a hierarchy from the top down; a column is of whole numbers where all its keys are.

    Example:
        >>> _paths("north,1; north,2; south,3")
        (('north', 1), ('north', 2), ('south', 3))
    """
    paths = [one.split(",") for one in text.split(";")]
    if len({len(one) for one in paths}) > 1:
        raise ParameterError(
            "option", "--leaves must have one key per column in every path", got={"leaves": text},
            hint="--leaves 'north,a;north,b;south,c'",
        )  # fmt: skip
    columns = [_level(",".join(column)) for column in zip(*paths, strict=True)]
    return tuple(zip(*columns, strict=True))


def read_one(kind: str, name: str, text: str) -> Any:
    """Read one value of a type that is written in words.

    Example:
        >>> read_one("Fraction | None", "low", "0.1")
        Fraction(1, 10)
    """
    if kind == "bool":
        return text.lower() in ("true", "yes", "1")
    if "Fraction" in kind:
        return number(name, text)
    if "float" in kind:
        if "str" in kind and text == "drop":
            return text
        return real(name, text)
    if "int" in kind:
        try:
            return int(text)
        except ValueError:
            if "str" not in kind:
                raise ParameterError(
                    "option", f"--{name} must be a whole number", got={name: text}, hint=f"--{name} 1000"
                ) from None
    return text


def number(name: str, text: str | None) -> Any:
    """Read a number as it was typed, exactly: ``0.1`` is one tenth, ``1/3`` a third."""
    from fractions import Fraction

    if text is None:
        return None
    if not re.search(r"(?i)e\s*[+-]?\s*0*[1-9][\d_]{3,}|\d{1000}", text):  # 1e999999999 would fill the memory
        try:
            return Fraction(text)
        except (ValueError, ZeroDivisionError):
            try:
                return float(text)  # nan, inf: let the checks say what is wrong with them
            except ValueError:
                pass
    raise ParameterError(
        "option", f"--{name.replace('_', '-')} must be a number", got={name: text},
        why="Numbers are written with a point, without units or separators, and are at most 1e300.",
        hint=f"--{name.replace('_', '-')} {EXAMPLES.get(name, '0.5')}",
    )  # fmt: skip


def real(name: str, text: str) -> float:
    """Read a number that is used as a double."""
    from sordino import checks

    return float(checks.exact("option", **{name: number(name, text)}))


def guarantee(options: dict[str, Any]) -> Guarantee:
    """Make the guarantee that the price options name, taking them out of ``options``.

    Example:
        >>> guarantee({"epsilon": "1", "delta": None, "rho": None, "omega": None, "per": None})
        Pure(epsilon=1)
    """
    given = {name: number(name, options.pop(name)) for name in ("epsilon", "delta", "rho", "omega", "per")}
    present = frozenset(name for name, value in given.items() if value is not None)
    kinds: dict[frozenset[str], type[Guarantee]] = {
        frozenset(field.name for field in dataclasses.fields(kind)): kind
        for kind in (Pure, Approx, Concentrated, TruncatedConcentrated, ApproxConcentrated, Geo)
    }
    if present not in kinds:
        raise ParameterError(
            "price",
            "name one guarantee",
            got={f"--{name}": value for name, value in given.items() if value is not None},
            why="There is no default price: how much to spend is yours to say.",
            hint="--epsilon 1 | --epsilon 1 --delta 1e-6 | --rho 0.5 | --rho 0.5 --delta 1e-6 | --rho 0.5 --omega 10 | "
            "--epsilon 1 --per 200",
        )
    return kinds[present](**{name: given[name] for name in present})
