"""`Office`: the folder with data, declarations and ledgers, the desk, and one open session per dataset.

A browser never names a path or an address: it sends the name of a declared dataset, or an id that is sealed with the
desk's own key and looked up among the files of the folder. Links that lead out of the folder are not followed.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sordino import session as sessions
from sordino.errors import DataError, LedgerError, SordinoError
from sordino.ledger import Ledger
from sordino.ledger.entry import login
from sordino.session.columns import columns
from sordino.session.provenance import fingerprint
from sordino.web.dataset import ENDING, Dataset
from sordino.web.desk import Desk

if TYPE_CHECKING:
    from sordino.ledger.declared import Declared
    from sordino.session import Session

KINDS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".pq")
LEDGER = ".ledger"
DEPTH = 2
RATES = {"release": 10, "quote": 60}
"""What one person may do in a minute."""


class Office:
    """Where data and ledgers are.

    Args:
        folder: Holds data, ``NAME.dataset.toml`` and ledgers.
        desk: What the page remembers; in memory unless given.
        shared: Whether it serves an organisation: several people, and declarations that only the server's own files
            can change.
    """

    def __init__(
        self, folder: str | os.PathLike[str], desk: Desk | None = None, *, shared: bool = False
    ) -> None:
        self.folder = Path(folder).resolve()
        self.desk = desk or Desk(None)
        self.shared = shared
        self.owner = login()
        self.rates = dict(RATES)
        self.key = self.desk.secret("seal")
        self._alone = threading.RLock()
        self._open: dict[str, tuple[Dataset, Session]] = {}
        self._ledgers: dict[str, Ledger] = {}
        self._lanes: dict[str, threading.Lock] = {}
        self._declared: dict[str, tuple[int, Dataset]] = {}

    def sealed(self, text: str) -> str:
        """An id that nobody else can make."""
        return hmac.new(self.key, text.encode(), hashlib.sha256).hexdigest()[:32]

    def files(self) -> dict[str, Path]:
        """Data files of the folder by sealed id, in the order of their names."""
        found = {}
        for path in sorted(self._walk(self.folder, DEPTH)):
            if path.name.lower().endswith(KINDS):
                found[self.sealed(f"file {path}")] = path
        return found

    def _walk(self, folder: Path, depth: int) -> list[Path]:
        found = []
        with contextlib.suppress(OSError):
            for each in os.scandir(folder):
                path = Path(each.path)
                if each.name.startswith(".") or not path.resolve().is_relative_to(self.folder):
                    continue
                if each.is_file():
                    found.append(path)
                elif depth > 1 and each.is_dir():
                    found += self._walk(path, depth - 1)
        return found

    def datasets(self) -> dict[str, Dataset]:
        """The declared datasets by name; a declaration that cannot be read is passed over (`problems` names it)."""
        return {made.name: made for made in self._declarations() if isinstance(made, Dataset)}

    def declared_in(self) -> dict[Path, Dataset]:
        """The declared datasets by the files that declare them."""
        self._declarations()
        return {self.folder / name: made for name, (_, made) in sorted(self._declared.items())}

    def problems(self) -> list[SordinoError]:
        """What is wrong with declarations that were passed over."""
        return [made for made in self._declarations() if isinstance(made, SordinoError)]

    def _declarations(self) -> list[Dataset | SordinoError]:
        found: list[Dataset | SordinoError] = []
        for path in sorted(self.folder.glob(f"*{ENDING}")):
            try:
                stamp = path.stat().st_mtime_ns
                kept = self._declared.get(path.name)
                if kept is None or kept[0] != stamp:
                    kept = self._declared[path.name] = (stamp, Dataset.from_toml(path))
                found.append(kept[1])
            except OSError:
                continue
            except SordinoError as problem:
                found.append(problem)
        return found

    def dataset(self, name: str) -> Dataset:
        """A declared dataset by its name."""
        found = self.datasets().get(name)
        if found is None:
            raise DataError("data", "there is no dataset of that name", got={"name": name}, hint="see Data")
        return found

    def save(self, dataset: Dataset, about: Path) -> Path:
        """Write a declaration beside its data."""
        target = self.folder / f"{_slug(dataset.name)}{ENDING}"
        target.write_text(dataset.to_toml(), encoding="utf-8")
        with self._alone:
            self._open.pop(dataset.name, None)
            self._declared.clear()
        del about
        return target

    def columns(self, path: str | os.PathLike[str]) -> dict[str, str]:
        """Names and kinds of columns, by the schema alone."""
        return columns(path)

    def schema(self, dataset: Dataset) -> str:
        """The fingerprint of a dataset's schema, as events state it."""
        return str(self.session(dataset)._data.get("schema", fingerprint([])))

    def rules(self, dataset: Dataset) -> Declared:
        """What the ledger is to hold every spend to: what was declared, and the columns as they are now."""
        return replace(dataset.declared, schema=self.schema(dataset))

    def session(self, dataset: Dataset) -> Session:
        """The one session on a dataset; opened when it is first asked for."""
        with self.lane(dataset.name):
            kept = self._open.get(dataset.name)
            if kept is not None and kept[0] == dataset:
                return kept[1]
            made = sessions.open(
                dataset.data,
                ledger=self.ledger_of(dataset),
                unit=dataset.unit if dataset.unit.column is not None else None,
                neighbors=dataset.neighbors,
                rows=None if self._counts(dataset) else dataset.rows,
                row=dataset.row,
                numbers=dataset.numbers,
                decimal=dataset.decimal,
                data_name=dataset.name,
            )
            self._open[dataset.name] = (dataset, made)
            return made

    def warm(self) -> None:
        """Open every dataset and put one question about it, without drawing: what all need is then loaded."""
        from sordino.privacy import Pure
        from sordino.statistics.median import Median

        for dataset in self.datasets().values():
            with contextlib.suppress(SordinoError):
                people = self.session(dataset)
                for name, column in dataset.columns.items():
                    if column.low is not None and column.high is not None:
                        people.question(Median(name, low=column.low, high=column.high), Pure(1))
                        break

    def lane(self, name: str) -> threading.Lock:
        """Whoever reads a dataset waits for the one before."""
        with self._alone:
            return self._lanes.setdefault(name, threading.Lock())

    @staticmethod
    def _counts(dataset: Dataset) -> bool:
        """Whether the true number of rows is public, so that a rough one is not needed."""
        from sordino.session.opening import counting

        return counting(dataset.neighbors, dataset.unit)

    def ledger_of(self, dataset: Dataset) -> Ledger:
        """The ledger that pays for a dataset."""
        return self._ledger(dataset.ledger)

    def _ledger(self, place: str) -> Ledger:
        with self._alone:
            kept = self._ledgers.get(place)
            if kept is None:
                if not Ledger.exists(place):
                    raise LedgerError(
                        "ledger", "there is no ledger yet", hint="say how much may ever be spent"
                    )
                kept = self._ledgers[place] = Ledger(place, user=None if self.shared else self.owner)
            return kept

    def ledgers(self) -> dict[str, Ledger]:
        """The ledgers of the datasets and of the folder, each by a short name for addresses."""
        places = [made.ledger for made in self.datasets().values()]
        if not self.shared:
            places += [str(path) for path in sorted(self.folder.glob(f"*{LEDGER}"))]
        found: dict[str, Ledger] = {}
        for place in dict.fromkeys(places):
            name = _slug(place.rpartition("ledger=")[2] if "://" in place else Path(place).stem)
            while name in found:
                name += "-2"
            with contextlib.suppress(LedgerError):
                found[name] = self._ledger(place)
        return found

    def slug(self, ledger: Ledger) -> str:
        """The short name of a ledger."""
        return next((name for name, one in self.ledgers().items() if one.name == ledger.name), "")

    def about(self, ledger: Ledger) -> list[Dataset]:
        """The datasets that a ledger pays for."""
        return [made for made in self.datasets().values() if self._same(made.ledger, ledger)]

    def _same(self, place: str, ledger: Ledger) -> bool:
        with contextlib.suppress(LedgerError):
            return self._ledger(place) is ledger
        return False

    def close(self) -> None:
        """Let go of everything."""
        for ledger in self._ledgers.values():
            ledger.close()
        self.desk.close()


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")[:60] or "ledger"


def state_folder() -> Path | None:
    """Where the desk of one person is kept; None when nothing is to be remembered."""
    from sordino.ledger.remembered import place

    file = place("desk")
    return None if file is None else file.parent.parent / "desks"


def own_desk(folder: Path) -> Desk:
    """The desk of one person for a folder."""
    home = state_folder()
    name: Any = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:32]
    return Desk(None if home is None else home / f"{name}.db")
