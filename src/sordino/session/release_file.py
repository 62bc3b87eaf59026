"""`ReleaseFile`: the data, the privacy unit, bounds, statistics and price of a publication in one TOML file.

Read strictly: a key that nobody knows is refused, so that a slip in a reviewed file is seen before anything is spent.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sordino import checks
from sordino.address import is_server
from sordino.errors import ParameterError, SordinoError, Unsupported
from sordino.privacy import Approx, Concentrated, Guarantee, Neighbors, Pure, TruncatedConcentrated, Unit
from sordino.reading.condition import Condition
from sordino.reading.discover import discover
from sordino.reading.split import Split
from sordino.statistics import Statistic, kinds

if TYPE_CHECKING:
    from collections.abc import Mapping

TOP = ("title", "period", "data", "ledger", "price", "budget", "reason", "neighbors", "unit", "rows", "row", "numbers",
       "decimal", "quoted_line_breaks", "data_name", "purpose", "interval", "report", "bounds", "tables")  # fmt: skip
TABLE = ("name", "statistics", "by", "where", "weight", "interval")
PRICES: tuple[type[Guarantee], ...] = (Pure, Approx, Concentrated, TruncatedConcentrated)
EXAMPLE = "docs/howto/release_file.md shows a whole file"


@dataclass(frozen=True, slots=True)
class Job:
    """One entry of the ledger: statistics that are asked together.

    Attributes:
        name: Name of the table.
        statistics: What is asked.
        prices: The price of each.
        shares: The part of the whole price that each has.
        by: Columns and public keys of groups.
        where: Public conditions.
        interval: Probability of intervals; None for statistics that have none.
        token: Names it: run again in the same period it costs nothing.
    """

    name: str
    statistics: tuple[Statistic, ...]
    prices: tuple[Guarantee, ...]
    shares: tuple[Fraction, ...]
    by: Split | None
    where: tuple[Condition, ...]
    interval: float | None
    token: str

    @property
    def groups(self) -> str:
        """Of whom it speaks, in a few words."""
        where = [f"{one.column} {one.op} {one.value}" for one in self.where]
        by = []
        if self.by is not None:
            by = [
                f"{len(self.by)} of {self.by.name}"
                if self.by.discover is None
                else f"found of {self.by.name}"
            ]
        return ", ".join([*by, *where]) or "-"

    @property
    def options(self) -> dict[str, Any]:
        """What a session's `question` is asked with."""
        return {"by": self.by, "interval": self.interval}


@dataclass(frozen=True, slots=True)
class ReleaseFile:
    """A publication, as it was reviewed. `read` makes one from a file."""

    path: Path
    title: str
    period: str
    data: str
    ledger: str
    price: Guarantee
    budget: Guarantee | None
    reason: str
    neighbors: Neighbors | None
    unit: Unit | None
    rows: int | None
    opening: Mapping[str, Any]
    purpose: str | None
    report: str | None
    jobs: tuple[Job, ...]

    @classmethod
    def read(cls, path: str | Path) -> ReleaseFile:
        """Read and check a file; no data and no ledger are touched.

        Args:
            path: A TOML file; the places in it are relative to its folder.
        """
        place = Path(path)
        try:
            text = place.read_text(encoding="utf-8")
            told = tomllib.loads(text)
        except (OSError, UnicodeDecodeError) as problem:
            raise _wrong("the file cannot be read", {"file": str(path)}) from problem
        except tomllib.TOMLDecodeError as problem:
            raise _wrong(f"the file is not TOML: {problem}", {"file": str(path)}) from None
        _known(told, TOP, "")
        unit = told.get("unit", {})
        unit = {"column": unit} if isinstance(unit, str) else unit
        _known(unit, ("column", "max_rows"), "unit.")
        period = str(_needed(told, "period", 'period = "2026"'))
        price = guarantee(_needed(told, "price", "price = { epsilon = 1 }"))
        home = place.parent
        known = {"row", "decimal", "quoted_line_breaks", "data_name"}
        opening = {key: told[key] for key in told if key in known}
        opening["numbers"] = tuple(told.get("numbers", ()))
        return cls(
            path=place,
            title=str(told.get("title", place.stem)),
            period=period,
            data=_at(home, _needed(told, "data", 'data = "people.csv"')),
            ledger=_at(home, _needed(told, "ledger", 'ledger = "people.ledger"')),
            price=price,
            budget=guarantee(told["budget"]) if "budget" in told else None,
            reason=str(told.get("reason", told.get("title", place.stem))),
            neighbors=Neighbors.of(told["neighbors"]) if "neighbors" in told else None,
            unit=Unit(unit.get("column"), max_rows=unit.get("max_rows", 1)) if "unit" in told else None,
            rows=told.get("rows"),
            opening=opening,
            purpose=told.get("purpose"),
            report=_at(home, told["report"]) if "report" in told else None,
            jobs=tuple(_jobs(told, price, f"{place.stem}", period)),
        )


def guarantee(told: Any) -> Guarantee:
    """Read ``{ epsilon = 1 }`` or ``{ rho = 0.1 }``.

    Example:
        >>> guarantee({"epsilon": 1, "delta": "1e-6"})
        Approx(epsilon=1, delta=1e-06)
    """
    names = set(told) if isinstance(told, dict) else set()
    for kind in PRICES:
        if names == {field.name for field in fields(kind)}:
            return kind(**{name: Fraction(str(value)) for name, value in told.items()})
    raise _wrong("a price is epsilon, epsilon and delta, or rho", {"price": told}, "price = { epsilon = 1 }")


def _jobs(told: dict[str, Any], price: Guarantee, name: str, period: str) -> list[Job]:
    tables = _needed(told, "tables", '[[tables]] name = "incomes"')
    bounds = told.get("bounds", {})
    if not isinstance(tables, list) or not tables:
        raise _wrong("tables are written as [[tables]]", {}, '[[tables]]\nname = "incomes"')
    for table in tables:
        _known(table, TABLE, "tables.")
    names = [str(_needed(table, "name", 'name = "incomes by region"')) for table in tables]
    if len(set(names)) < len(names):
        raise _wrong("every table has a name of its own", {"names": names}, 'name = "incomes by region"')
    asked = [
        [
            (_statistic(one, bounds), _weight(one, table))
            for one in _needed(table, "statistics", "statistics = [...]")
        ]
        for table in tables
    ]
    whole = sum((weight for some in asked for _, weight in some), Fraction(0))
    if not whole:
        raise _wrong("at least one statistic must be asked", {}, 'statistics = ["count income"]')
    found = []
    for table, title, statistics in zip(tables, names, asked, strict=True):
        shared_out = [(statistic, weight / whole) for statistic, weight in statistics]
        interval = table.get("interval", told.get("interval"))
        shared: dict[str, Any] = {
            "by": _by(table.get("by")),
            "where": tuple(Condition.of(one) for one in _texts(table.get("where", []))),
        }
        for bar, some in _by_interval(shared_out, price, interval, told, shared):
            token = _token(name, period, title, bar)
            kinds, shares = zip(*some, strict=True)
            prices = tuple(price.share(share) for share in shares)
            found.append(Job(title, kinds, prices, shares, interval=bar, token=token, **shared))
    return found


def _weight(told: Any, table: Mapping[str, Any]) -> Fraction:
    """What a statistic weighs when the price is shared: as it says, or as its table says."""
    given = told.get("weight") if isinstance(told, dict) else None
    return checks.positive("run", weight=Fraction(str(table.get("weight", 1) if given is None else given)))


def _by_interval(
    statistics: list[tuple[Statistic, Fraction]],
    price: Guarantee,
    interval: float | None,
    told: dict[str, Any],
    shared: dict[str, Any],
) -> list[tuple[float | None, list[tuple[Statistic, Fraction]]]]:
    """Statistics that have an interval, and those that have none: each are asked together."""
    if interval is None:
        return [(None, statistics)] if statistics else []
    from sordino.session.quote import prepare

    unit = told.get("unit", {})
    column = unit if isinstance(unit, str) else unit.get("column")
    rows = 1 if isinstance(unit, str) else unit.get("max_rows", 1)
    barred, bare = [], []
    for statistic, share in statistics:
        try:
            prepare(
                statistic, price.share(share), neighbors=Neighbors.of(told.get("neighbors", "replace-one")),
                unit=Unit(column, max_rows=rows), rows=told.get("rows", 10_000), interval=interval, **shared,
            )  # fmt: skip
        except Unsupported:
            bare.append((statistic, share))
        else:
            barred.append((statistic, share))
    return [(bar, some) for bar, some in ((interval, barred), (None, bare)) if some]


def _statistic(told: Any, bounds: Mapping[str, Any]) -> Statistic:
    """Read ``"median income"`` or ``{ statistic = "quantile", column = "income", q = 0.25 }``; bounds are added."""
    if isinstance(told, str):
        name, _, rest = told.partition(" ")
        told = {"statistic": name, "column": rest.strip()}
    if not isinstance(told, dict) or "statistic" not in told:
        raise _wrong("a statistic is a text or a table", {"statistic": told}, '"median income"')
    known = kinds()
    kind = told["statistic"]
    if kind not in known:
        raise _wrong("there is no such statistic", {"statistic": kind}, "sordino show statistics")
    own = {field.name for field in fields(known[kind]) if field.init}  # type: ignore[arg-type]
    column = told.get("column")
    given = {key: value for key, value in bounds.get(column, {}).items() if key in own} if column else {}
    given |= {key: value for key, value in told.items() if key not in ("statistic", "weight")}
    if unknown := set(given) - own:
        raise _wrong(
            f"the {kind} has no {min(unknown)}", {"statistic": told}, f"it has {', '.join(sorted(own))}"
        )
    try:
        return known[kind](
            **{key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
        )
    except TypeError:
        raise _wrong(
            f"the {kind} needs more", {"statistic": told}, "[bounds]\nincome = { low = 0, high = 500000 }"
        ) from None
    except SordinoError as problem:
        if "must be given" in str(problem):
            raise _wrong(
                f"the {kind} needs more: {problem.rule}", {"statistic": told},
                "[bounds]\nincome = { low = 0, high = 500000 }",
            ) from None  # fmt: skip
        raise


def _by(told: Any) -> Split | None:
    """Read ``{ region = [...], sex = [...] }``, all combinations, or ``{ columns = [...], keys = [[...], ...] }``.

    ``{ columns = "town", discover = true }`` finds them in the data; a table of options may stand for ``true``.
    """
    if told is None:
        return None
    if not isinstance(told, dict) or not told:
        raise _wrong(
            "by names columns and their public keys", {"by": told}, 'by = { region = ["north", "south"] }'
        )
    if set(told) == {"columns", "discover"}:
        options = told["discover"]
        if options is not True and not (
            isinstance(options, dict) and set(options) <= {"share", "max_keys", "passes"}
        ):
            raise _wrong(
                "discover is true or names share, max_keys and passes", {"by": told},
                'by = { columns = "town", discover = { max_keys = 3 } }',
            )  # fmt: skip
        return Split.of(told["columns"], discover(**({} if options is True else options)))
    if set(told) == {"columns", "keys"} and all(isinstance(one, list) for one in told["keys"]):
        return Split.of(told["columns"], told["keys"])
    return Split.of(list(told), told)


def _texts(told: Any) -> list[str]:
    return [told] if isinstance(told, str) else list(told)


def _token(name: str, period: str, table: str, interval: float | None) -> str:
    """The same file, table and period always have the same token: asked again, nothing is paid."""
    told = json.dumps(["sordino-run", name, period, table, interval is not None])
    return "run-" + hashlib.sha256(told.encode()).hexdigest()[:32]


def _at(home: Path, told: Any) -> str:
    text = str(told)
    return text if is_server(text) or Path(text).is_absolute() else str(home / text)


def _known(told: Any, known: tuple[str, ...], where: str) -> None:
    if not isinstance(told, dict):
        raise _wrong(f"{where or 'the file'} must be a table of names and values", {}, EXAMPLE)
    for key in told:
        if key not in known:
            import difflib

            near = difflib.get_close_matches(key, known, 1)
            raise _wrong(
                "there is no such key",
                {"key": f"{where}{key}"},
                near[0] if near else "one of " + ", ".join(known),
            )


def _needed(told: Mapping[str, Any], key: str, hint: str) -> Any:
    if key not in told:
        raise _wrong(f"{key} must be given", {}, hint)
    return told[key]


def _wrong(rule: str, got: dict[str, Any], hint: str = EXAMPLE) -> ParameterError:
    return ParameterError("release file", rule, got=got, hint=hint)
