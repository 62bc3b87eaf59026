"""`LongText`: CSV files so long that no column of theirs is kept where a stream will do.

Records are read in stretches of a few megabytes, and each stretch is a small table in memory with the same conditions:
whatever is true of a row there is true of it in a short file. Sums, windows and counts of all of them are added up, in
memory that does not grow with the file and in a number of scans that is public. Units, blocks and combinations need the
columns that they name and no others; groups need a place and a number of every record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.memory import Memory
from sordino.data.schema import by_column, parts
from sordino.reading.requests import Bundle, Cells, Request, Summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sordino.data.text_file import TextFile
    from sordino.privacy import Unit
    from sordino.reading.requests import Ask


class LongText(Memory):
    """A long CSV file, or several.

    Args:
        file: The file.
        unit: Whom to protect.
        row: Column that orders the rows of a unit.
        assumptions: What every release of these data rests on, in sentences.
    """

    def __init__(
        self,
        file: TextFile,
        *,
        unit: Unit | None = None,
        row: str | None = None,
        assumptions: tuple[str, ...] = (),
    ) -> None:
        super().__init__(
            file.table(), unit=unit, row=row, numbers=tuple(file.names), name="CSV", assumptions=assumptions
        )
        self._file = file
        self._counted: tuple[Any, int] | None = None

    @property
    def rows(self) -> int:
        """The number of rows that fulfil the conditions."""
        if not self._filters:
            return self._table.rows
        if self._counted is None or self._counted[0] != self._filters:
            self._counted = self._filters, sum(part.rows for part in self._parts())
        return self._counted[1]

    def summary(self, *requests: Ask) -> tuple[Summary, ...]:
        """Answer each request, stretch by stretch where rows count one by one."""
        streamed = all(isinstance(part, Request | Cells) for part in parts(requests))
        if not streamed or self.unit.column is not None:
            return super().summary(*requests)
        self._check(requests)
        # With these comes narwhals, which short files do without.
        from sordino.data.passes import summarise_frame
        from sordino.data.streamed import StreamedCodes

        found: dict[Any, Summary] = {}
        for (column, grid), together in by_column(requests).items():

            def batches(column: str = column) -> Iterator[NDArray[Any]]:
                return (part._numeric(column, None) for part in self._parts(column))

            found |= summarise_frame(StreamedCodes.of(batches, grid), together, self._name)
        for request in parts(requests):
            if isinstance(request, Cells):
                counts = np.zeros(len(request.keys), np.int64)
                for part in self._parts(request.column):
                    counts += part.counts(request.column, request.keys)
                found[request] = Summary(request, self.rows, counts=tuple(counts.tolist()))
        return tuple(
            Summary(request, self.rows, parts=tuple(found[part] for part in request.parts))
            if isinstance(request, Bundle)
            else found[request]
            for request in requests
        )

    @property
    def _chosen(self) -> NDArray[np.intp] | None:
        """The rows that `where` has left, for what needs whole columns; the columns of conditions are not kept."""
        if self._filters and self._passing is None:
            found, start = [np.zeros(0, np.intp)], 0
            for part in self._parts():
                assert part._chosen is not None
                found.append(part._chosen + start)
                start += part._table.rows
            self._passing = np.concatenate(found)
        return self._passing

    def _places(
        self, name: str, keys: tuple[str | int, ...], rows: NDArray[np.intp] | None
    ) -> NDArray[np.intp]:
        """The place of each row's key in a public list; no texts are kept for it."""
        found, start = np.empty(self.rows, np.int32), 0
        for part in self._parts(name):
            some = part._places(name, keys, None)
            found[start : start + len(some)] = some
            start += len(some)
        return (found if rows is None else found[rows]).astype(np.intp, copy=False)

    def _parts(self, *names: str) -> Iterator[Memory]:
        """Some columns of all rows, some rows at a time, under the same conditions."""
        conditions = tuple(condition for condition, _ in self._filters)
        for table in self._file.parts(self._own((*names, *(condition.column for condition in conditions)))):
            part = Memory(table, numbers=self._numbers, name=self._name)
            yield part.where(*conditions) if conditions else part
