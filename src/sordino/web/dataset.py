"""`Dataset`: what a curator declares about data in public: unit, bounds, keys, what may be asked. Kept as a TOML file.

Everything in it comes from what is known, not from looking. Where the data lie stands in the file and nowhere else.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from sordino.errors import ParameterError, SordinoError
from sordino.ledger.declared import Declared
from sordino.privacy import Guarantee, Neighbors, Unit

ENDING = ".dataset.toml"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,79}")
POLICIES = ("auto", "ask", "auto-below")


@dataclass(frozen=True, slots=True)
class ColumnDescription:
    """The public description of a column; every part may be left out.

    Attributes:
        label: What people call it.
        low: The least value that is plausible.
        high: The greatest.
        step: The lattice on which its values live.
        keys: Its public categories.
    """

    label: str = ""
    low: float | None = None
    high: float | None = None
    step: float | None = None
    keys: tuple[str | int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """What is declared, without what is not."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            name: list(value) if name == "keys" else value
            for name, value in found.items()
            if value not in ("", None, ())
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Data and their public description.

    Attributes:
        name: What they are called in public.
        data: Where they are: a path beside the declaration, or the address of a table.
        ledger: The ledger that pays.
        unit: Whom to protect.
        neighbors: Which datasets the promise compares.
        rows: A rough public number of rows, where the true one is private.
        row: ColumnDescription that orders the rows of a unit.
        decimal: Decimal sign of a CSV file.
        numbers: Columns of text that are to be read as numbers.
        columns: Descriptions by column.
        statistics: Catalogue names that may be asked; all where there are none.
        cost_max: The most that one question may cost.
        policy: ``auto``: within the shares everybody may release; ``ask``: an officer approves every question;
            ``auto-below``: questions that cost more than ``auto_below`` are approved.
        auto_below: See ``policy``.
        answer_after: Seconds after the debit at which an answer is handed out, at the earliest.
    """

    name: str
    data: str
    ledger: str
    unit: Unit = field(default_factory=Unit)
    neighbors: Neighbors = Neighbors.REPLACE_ONE
    rows: int | None = None
    row: str | None = None
    decimal: str = "."
    numbers: tuple[str, ...] = ()
    columns: Mapping[str, ColumnDescription] = field(default_factory=dict)
    statistics: tuple[str, ...] = ()
    cost_max: Guarantee | None = None
    policy: str = "auto"
    auto_below: Guarantee | None = None
    answer_after: float = 0.25

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ParameterError(
                "dataset", "name must have 1 to 80 letters, digits, blanks, points, dashes or underscores",
                got={"name": self.name}, hint='name = "households"',
            )  # fmt: skip
        if self.policy not in POLICIES or (self.policy == "auto-below") != (self.auto_below is not None):
            raise ParameterError(
                "dataset", "policy must be auto, ask, or auto-below with an auto_below",
                got={"policy": self.policy}, hint='policy = "ask"',
            )  # fmt: skip

    @property
    def declared(self) -> Declared:
        """What a ledger keeps of it and holds every spend to."""
        return Declared(
            name=self.name,
            statistics=self.statistics,
            cost_max=self.cost_max,
            approved_above=None if self.policy == "auto" else self.auto_below,
            approved=self.policy != "auto",
        )

    def describe(self, column: str) -> ColumnDescription:
        """The description of a column; an empty one where there is none."""
        return self.columns.get(column, ColumnDescription())

    def public(self) -> dict[str, Any]:
        """What may be told to everybody who may ask: everything but where data and ledger are."""
        return {
            "name": self.name,
            "unit": self.unit.to_dict(),
            "neighbors": self.neighbors.value,
            "rows": self.rows,
            "columns": {name: column.to_dict() for name, column in self.columns.items()},
            "statistics": list(self.statistics),
            "cost_max": None if self.cost_max is None else self.cost_max.to_dict(),
            "policy": self.policy,
            "auto_below": None if self.auto_below is None else self.auto_below.to_dict(),
        }

    def to_toml(self) -> str:
        """The declaration as a file."""
        lines = [
            "# The public description of a dataset: from what is known, never from looking at it.",
            f"name = {_text(self.name)}",
            f"data = {_text(self.data)}",
            f"ledger = {_text(self.ledger)}",
            f"neighbors = {_text(self.neighbors.value)}",
        ]
        if self.rows is not None:
            lines.append(f"rows = {self.rows}")
        lines += [f"row = {_text(self.row)}"] if self.row else []
        lines += [f"decimal = {_text(self.decimal)}"] if self.decimal != "." else []
        lines += [f"numbers = {_list(self.numbers)}"] if self.numbers else []
        lines += [f"statistics = {_list(self.statistics)}"] if self.statistics else []
        lines += [f"cost_max = {_text(self.cost_max.to_dict())}"] if self.cost_max else []
        lines += [f"policy = {_text(self.policy)}"] if self.policy != "auto" else []
        lines += [f"auto_below = {_text(self.auto_below.to_dict())}"] if self.auto_below else []
        lines += [f"answer_after = {self.answer_after}"] if self.answer_after != 0.25 else []
        if self.unit.column is not None:
            lines += ["", "[unit]", f"column = {_text(self.unit.column)}", f"max_rows = {self.unit.max_rows}"]
        for name, column in self.columns.items():
            lines += ["", f"[columns.{_text(name)}]"]
            lines += [
                f"{key} = {_list(value) if isinstance(value, list) else _text(value)}"
                for key, value in column.to_dict().items()
            ]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, file: Path) -> Dataset:
        """Read a declaration; places in it are beside it."""
        try:
            found = tomllib.loads(file.read_text(encoding="utf-8"))
            made = cls._from(found)
        except (
            OSError,
            UnicodeDecodeError,
            tomllib.TOMLDecodeError,
            TypeError,
            KeyError,
            AttributeError,
        ) as problem:
            if isinstance(problem, SordinoError):
                raise
            raise ParameterError(
                "dataset", "the declaration cannot be read", got={"file": file.name},
                hint='name = "households", data = "households.csv", ledger = "income.ledger"',
            ) from None  # fmt: skip
        return replace(made, data=beside(file, made.data), ledger=beside(file, made.ledger))

    @classmethod
    def _from(cls, found: dict[str, Any]) -> Dataset:
        known = {each.name for each in fields(cls)}
        if unknown := sorted(set(found) - known):
            raise ParameterError(
                "dataset", "the declaration has unknown entries", got={"entries": unknown[:3]}
            )
        columns = {
            name: ColumnDescription(**{**column, "keys": tuple(column.get("keys", ()))})
            for name, column in found.pop("columns", {}).items()
        }
        for name in ("cost_max", "auto_below"):
            if name in found:
                found[name] = Guarantee.from_dict(json.loads(found[name]))
        for name in ("numbers", "statistics"):
            found[name] = tuple(found.get(name, ()))
        found["unit"] = Unit(**found.get("unit", {}))
        found["neighbors"] = Neighbors.of(found.get("neighbors", "replace-one"))
        return cls(columns=columns, **found)


def beside(file: Path, place: str) -> str:
    """A path beside a file; an address as it is."""
    return place if "://" in place else str(file.parent / place)


def _text(value: Any) -> str:
    """A value of TOML; a record is kept as a text of JSON."""
    if isinstance(value, dict):
        return json.dumps(json.dumps(value))
    return json.dumps(value, ensure_ascii=True)


def _list(values: Any) -> str:
    return "[" + ", ".join(_text(value) for value in values) + "]"
