"""Forms: the fields of a statistic as inputs, and what was typed as a question. Fields are read by `sordino.fields`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sordino import catalogue, fields
from sordino.coverage import Population, Sample
from sordino.errors import ParameterError, SordinoError
from sordino.web.question import HINTS, UNASKED, Inquiry

if TYPE_CHECKING:
    from sordino.privacy import Guarantee
    from sordino.web.dataset import Dataset

GROUPS = (
    ("Centre", ("median", "mean", "trimmed-mean", "winsorized-mean", "output-trimmed-mean")),
    ("Counts", ("count", "count-above", "categories", "histogram", "tail-counts", "mode", "mode-count")),
    ("Quantiles and spread", (
        "quantile", "quantiles", "interquantile-range", "standard-deviation", "variance", "second-moment", "sum",
        "minimum", "maximum",
    )),
)  # fmt: skip
GRAPHS = ("edges", "triangles", "maximum-degree", "minimum-spanning-tree", "shared-neighbours")
DESCRIBED = ("low", "high", "step", "keys")
"""Fields that may be left empty where the dataset describes its column."""
CHOICES = {"rule": ("lower", "upper"), "missing": ()}
LABELS = {
    "low": "from", "high": "to", "q": "quantile", "qs": "quantiles", "trim": "share cut at each end", "keys": "keys",
    "edges": "edges of the cells", "column": "column",
}  # fmt: skip
OPERATORS = (">=", "<=", ">", "<", "==", "!=")
PRICES = ("epsilon", "delta", "rho", "omega", "per")


@dataclasses.dataclass(frozen=True, slots=True)
class Input:
    """One input of a form.

    Attributes:
        name: The field.
        label: What it is called.
        help: What it means.
        value: What stands in it.
        required: Whether it must be filled in.
        example: What might stand in it.
        main: Whether it is shown at once.
        column: Whether it names a column.
        problem: What is wrong with it.
    """

    name: str
    label: str
    help: str
    value: str
    required: bool
    example: str
    main: bool
    column: bool = False
    problem: str = ""


def statistics(allowed: tuple[str, ...] = ()) -> list[tuple[str, list[str]]]:
    """The statistics that a form can ask, in groups; own ones of plug-ins come last."""
    known = [
        name
        for name, kind in catalogue.statistics().items()
        if not fields.nested(kind) and name not in (*UNASKED, *GRAPHS) and (not allowed or name in allowed)
    ]
    grouped = [(title, [name for name in names if name in known]) for title, names in GROUPS]
    rest = [name for name in known if not any(name in names for _, names in grouped)]
    return [(title, names) for title, names in (*grouped, ("Others", rest)) if names]


def inputs(
    kind: str, typed: Mapping[str, str], problem: SordinoError | None = None, dataset: Dataset | None = None
) -> list[Input]:
    """The inputs of a statistic, with what was typed."""
    found = []
    described = None if dataset is None else dataset.describe(typed.get("column", ""))
    wrong = set() if problem is None else {str(name).lstrip("-").replace("-", "_") for name in problem.got}
    made = catalogue.statistic(kind)
    for field in fields.asked(made):
        known = getattr(described, field.name, None) if field.name in DESCRIBED else None
        required = fields.required(field)
        column = fields.positional(field)
        found.append(
            Input(
                field.name,
                LABELS.get(field.name, field.name.replace("_", " ")),
                fields.described(field, made),
                typed.get(field.name, "").strip(),
                required and dataset is None,
                spelled(known) if known not in (None, ()) else fields.EXAMPLES.get(field.name, ""),
                (required or field.name == "step") and field.name != "bits",
                column,
                said(problem) if problem is not None and field.name in wrong else "",
            )
        )
    return found


def spelled(known: Any) -> str:
    """A described value as it is typed."""
    if isinstance(known, tuple | list):
        return ",".join(map(str, known))
    return f"{known:g}" if isinstance(known, float) and abs(known) < 1e15 else str(known)


def said(problem: SordinoError) -> str:
    """The rule that was broken, in a form's words: no dashes of a command line."""
    return problem.rule.replace("--", "")


def statistic(typed: Mapping[str, str], dataset: Dataset | None = None) -> Any:
    """The statistic that was filled in; what the dataset describes may be left empty."""
    name = typed.get("statistic", "")
    if name in UNASKED or name in GRAPHS:
        raise ParameterError("question", "this statistic is asked in Python", got={"statistic": name})
    kind = catalogue.statistic(name)
    described = None if dataset is None else dataset.describe(typed.get("column", ""))
    given = {}
    for field in fields.asked(kind):
        text = typed.get(field.name, "").strip()
        if not text and field.name in DESCRIBED and getattr(described, field.name, None) not in (None, ()):
            text = spelled(getattr(described, field.name))
        if not text and fields.required(field):
            raise ParameterError(
                name, f"{field.name} must be filled in", got={field.name: ""}, why=_why(field.name),
                hint=f"{field.name} {fields.EXAMPLES.get(field.name, '')}".strip(),
            )  # fmt: skip
        if text:
            given[field.name] = fields.read(field, text)
    return kind(**given)


def _why(name: str) -> str:
    return {
        "low": "There is no default: bounds are public and come from what you know.",
        "high": "There is no default: bounds are public and come from what you know.",
        "keys": "Keys are public: they never come from the data.",
    }.get(name, "It is part of the question.")


def price(typed: Mapping[str, str]) -> Guarantee:
    """The price that was filled in."""
    if not any(typed.get(name, "").strip() for name in PRICES):
        raise ParameterError(
            "price", "the cost must be filled in", got={"epsilon": ""}, hint="0.5",
            why="There is no default: how much may be spent is yours to say.",
        )  # fmt: skip
    return fields.guarantee({name: typed.get(name, "").strip() or None for name in PRICES})


def conditions(typed: Mapping[str, str]) -> tuple[str, ...]:
    """The conditions on rows that were filled in."""
    found = []
    for place in ("1", "2", "3"):
        column, sign, value = (
            typed.get(f"where_{part}{place}", "").strip() for part in ("column", "sign", "value")
        )
        if column and value:
            if sign not in OPERATORS:
                raise ParameterError("where", "is not a comparison", got={"sign": sign})
            found.append(f"{column} {sign} {value}")
    return tuple(found)


def split(typed: Mapping[str, str], dataset: Dataset | None = None) -> tuple[str, tuple[Any, ...]] | None:
    """The column and the keys of groups."""
    column, text = typed.get("by", "").strip(), typed.get("by_keys", "").strip()
    if not column:
        return None
    if not text and dataset is not None and dataset.describe(column).keys:
        return column, dataset.describe(column).keys
    given: tuple[Any, ...] = tuple(key.strip() for key in text.split(",") if key.strip())
    if not given:
        raise ParameterError(
            "groups", "the keys must be filled in", got={"by_keys": ""}, hint="north, south",
            why="Keys are public: they must be known before the data are seen, never taken from them.",
        )  # fmt: skip
    if all(key.lstrip("-").isdigit() for key in given):
        given = tuple(int(key) for key in given)
    return column, given


def coverage(typed: Mapping[str, str]) -> Sample | Population | None:
    """What error bars are to cover, when they are wanted."""
    if not typed.get("bar"):
        return None
    level = fields.real("interval", typed.get("interval", "").strip() or "95") / 100
    return Population(level) if typed.get("bar") == "population" else Sample(level)


def question(typed: Mapping[str, str], dataset: Dataset | None = None) -> Inquiry:
    """The whole question that was filled in."""
    hints: dict[str, Any] = {}
    for name in HINTS:
        text = typed.get(f"hint_{name}", "").strip()
        if text:
            hints[name] = True if name in ("tight", "loose", "symmetric") else fields.real(name, text)
    return Inquiry(
        statistic=statistic(typed, dataset),
        price=price(typed),
        by=split(typed, dataset),
        where=conditions(typed),
        interval=coverage(typed),
        purpose=typed.get("purpose", "").strip() or None,
        hints=hints,
    )


def whole(name: str, text: str, *, least: int = 1, most: int = 10**12) -> int:
    """A whole number that was typed, thousands apart or not."""
    plain = text.replace(",", "").replace(" ", "").replace("\u202f", "")
    if not plain.isascii() or not plain.isdigit() or not least <= int(plain or 0) <= most:
        raise ParameterError("form", f"{name} must be a whole number", got={name: text}, hint="20000")
    return int(plain)
