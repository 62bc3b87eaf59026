"""`TextFile`: CSV files of one header, of which nothing is kept but the columns that are asked for.

When they are opened their records are counted. A column is read when it is asked for, in one pass over the bytes, and
several columns of one question in one pass together. If the files change while they are open, it is noticed.
"""

from __future__ import annotations

import re
import shlex
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sordino.data.records import count, header, records
from sordino.data.schema import Unlisted
from sordino.data.stretch import Stretch, read_stretch
from sordino.data.table import Table
from sordino.data.text_column import TextColumn, numbers_of
from sordino.errors import DataError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

LONG = 1 << 30
"""Files with more bytes than this are long: no column of theirs is kept where a stream will do."""


class TextFile:
    """CSV files that are read as one table.

    Args:
        files: Their paths.
        decimal: What separates the decimals of numbers: a point or a comma.
        quoted: Whether quoted fields may hold line breaks.
    """

    def __init__(self, files: list[str], *, decimal: str = ".", quoted: bool = False) -> None:
        self._files, self._decimal, self._quoted = files, decimal, quoted
        self._stamps = stamps(files)
        self._separator, self.names = named(files)
        self._places = {name: place for place, name in enumerate(self.names)}
        try:
            self.rows = sum(count(one, quoted=quoted) for one in files)
        except (OSError, EOFError, zlib.error):
            raise unreadable(files[0]) from None
        self.ready()

    @property
    def long(self) -> bool:
        """Whether so many bytes are on the disk that columns are streamed; known to all who see the files."""
        return sum(size for _, size, _ in self._stamps) > LONG

    @property
    def kinds(self) -> Unlisted:
        """All columns are text."""
        kinds, path = Unlisted(dict.fromkeys(self.names, "text")), self._files[0]
        kinds.hint = (
            f"{'zcat' if path.endswith('.gz') else 'cat'} {shlex.quote(path)} | head -n 1 shows the names"
        )
        return kinds

    def ready(self) -> None:
        """Refuse files that have changed since they were opened."""
        if not self._stamps or stamps(self._files) != self._stamps:
            from sordino.data.passes import changed  # with it comes narwhals, which text files do without

            raise changed("open")

    def table(self) -> Table:
        """The columns, each read when it is asked for and kept."""
        columns: dict[str, TextColumn] = {}

        def load(name: str) -> TextColumn:
            places = (self._places[name],)
            columns[name] = TextColumn(_Fields(self, places), 0, self._decimal, count=self.rows)
            return columns[name]

        def expect(names: list[str]) -> None:
            new = [
                name
                for name in names
                if name in self._places and not (name in columns and columns[name].read)
            ]
            if len(new) > 1:
                places = tuple(self._places[name] for name in new)
                inner = tuple(range(len(new)))
                found = numbers_of(_Fields(self, places), inner, self._decimal, self.rows)
                for name, numbers in zip(new, found, strict=True):
                    column = table[name]
                    assert isinstance(column, TextColumn)
                    column.told(numbers)

        table = Table(self.kinds, load, self.rows, ready=self.ready, expect=expect)
        return table

    def parts(self, names: Iterable[str]) -> Iterator[Table]:
        """Some columns of all records, many records at a time, as tables of their own."""
        wanted = tuple(dict.fromkeys(name for name in names if name in self._places))
        kinds, inner = self.kinds, {name: place for place, name in enumerate(wanted)}
        for stretch in self.stretches(tuple(self._places[name] for name in wanted)):

            def load(name: str, stretch: Stretch = stretch) -> TextColumn:
                return TextColumn((stretch,), inner[name], self._decimal, count=len(stretch))

            yield Table(kinds, load, len(stretch))

    def stretches(self, places: tuple[int, ...]) -> Iterator[Stretch]:
        """The fields of some columns, many records at a time."""
        self.ready()
        width, seen = len(self.names), 0
        for one in self._files:
            for some in records(one, quoted=self._quoted):
                stretch = read_stretch(
                    some, width=width, separator=self._separator, quoted=self._quoted, places=places
                )
                seen += len(stretch)
                if seen > self.rows:
                    break
                yield stretch
        self.ready()
        if seen != self.rows:
            from sordino.data.passes import changed

            raise changed("open")


@dataclass(frozen=True, slots=True)
class _Fields:
    """The fields of some columns, read whenever they are gone through."""

    file: TextFile
    places: tuple[int, ...]

    def __iter__(self) -> Iterator[Stretch]:
        return self.file.stretches(self.places)


def unreadable(path: str | os.PathLike[str]) -> DataError:
    """The error of a damaged file."""
    return DataError(
        "open", "the file must be readable", got={"path": str(path)},
        why="It is damaged, or not of the kind that its ending says.",
    )  # fmt: skip


def named(files: list[str]) -> tuple[bytes, list[str]]:
    """Separator and header of CSV files: the same in all; a name that is left empty becomes ``column0``, ..."""
    found = []
    for one in files:
        try:
            separator, first = header(one)
        except (OSError, EOFError, zlib.error):
            raise unreadable(one) from None
        found.append((separator, [name or f"column{place}" for place, name in enumerate(first)]))
    if any(other != found[0] for other in found):
        raise DataError(
            "open", "CSV files that are read together must have the same header", got={"path": files[0]},
            hint="open them one by one, or bring their columns into one order",
        )  # fmt: skip
    separator, names = found[0]
    why, hint = _refused(files[0], names)
    if why:
        raise DataError(
            "open", "the first line of a CSV file must name its columns, each once", got={"path": files[0]},
            why=why, hint=hint,
        )  # fmt: skip
    return separator, names


def _refused(path: str, names: list[str]) -> tuple[str, str]:
    """What is wrong with a header, and what to type; nothing of it is echoed, since it may be somebody's record."""
    if any("\ufffd" in name or "\0" in name for name in names):
        encoding = "utf-16" if any("\0" in name for name in names) else "latin1"
        return "It is not UTF-8 text.", f"iconv -f {encoding} -t utf-8 {path} > utf8.csv"
    if any("\r" in name for name in names):
        return "Its lines end with carriage returns alone.", f"tr '\\r' '\\n' < {path} > lines.csv"
    if not names:
        return "A quote in it is not closed; the header is one line.", "income,age,region"
    if any(not re.search(r"[^\W\d_]", name) and re.search(r"\d", name) for name in names):
        why = "A number or a date is not a name: it looks as if the header were absent."
        return why, f"sed -i '1i income,age,region' {path} puts a header before the first line"
    if len({name.lower() for name in names}) != len(names):
        return "A name occurs twice.", "income,income_before,region"
    if names == ["column0"]:
        return "The first line is empty.", f"sed -i '1c income,age,region' {path} writes it anew"
    return "", ""


def stamps(files: list[str]) -> list[tuple[int, int, int]]:
    """What changes when a file is written: its node, its size, its time."""
    try:
        stats = [Path(one).stat() for one in files]
    except OSError:
        return []
    return [(stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats]
