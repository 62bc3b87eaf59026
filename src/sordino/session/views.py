"""`Views`: the ways to look at a release: by group, by name, as a table or frame, in words, as a picture or a page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from sordino.errors import ParameterError
from sordino.reading.split import Split
from sordino.session.comparing import Comparing

if TYPE_CHECKING:
    from sordino.privacy import Guarantee
    from sordino.session.difference import Difference
    from sordino.session.release import Event, Release
    from sordino.session.table import AnswerTable


class Views(Comparing):
    """What can be made of a release without asking again."""

    __slots__ = ()

    if TYPE_CHECKING:
        event: Event

        @property
        def table(self) -> AnswerTable:
            """The release as rows."""

        @property
        def guarantee(self) -> Guarantee:
            """The promise for one person."""

    @property
    def _whole(self) -> Release:
        return cast("Release", self)  # the only class that is looked at

    @property
    def groups(self) -> dict[Any, Any]:
        """Answers by public key, or by combination of keys, for a release by groups."""
        if self.event.by is None or not isinstance(self.value, tuple):
            raise ParameterError("release", "has no groups", hint="release_by(column, keys, ...) makes them")
        return dict(zip(Split.from_record(self.event.by).keys, self.value, strict=True))

    def margin(self, *columns: str) -> dict[Any, Any]:
        """One margin of a table: its counts by key, or by combination of keys; the total without columns.

        Example:
            >>> import sordino as sd
            >>> people = sd.open({"region": ["n", "s", "n"], "sex": ["f", "f", "m"]}, budget=sd.Pure(3))
            >>> asked = sd.Crosstab(("region", "sex"), levels={"region": ["n", "s"], "sex": ["f", "m"]})
            >>> answer = people.release(asked, sd.Pure(1))
            >>> sum(answer.margin("region").values()) == answer.margin()
            True
        """
        wanted = set(columns)
        axes = tuple(self.event.statistic.get("columns", ())) if "margins" in self.event.statistic else ()
        asked = [set(one) for one in self.event.statistic.get("margins", ())]
        if wanted not in asked:
            raise ParameterError(
                "release", "has no such margin", got={"columns": columns},
                hint='sd.Crosstab(("region", "sex"), levels={...}, margins=[("region",), ...])',
            )  # fmt: skip
        found = {}
        for row in self.table:
            keys = tuple(row.group[name] for name in axes)
            if {name for name, key in zip(axes, keys, strict=True) if key is not None} == wanted:
                found[tuple(key for key in keys if key is not None)] = row.value
        if not columns:
            return found[()]
        return {keys[0] if len(keys) == 1 else keys: value for keys, value in found.items()}

    def difference(self, first: Any, second: Any) -> Difference:
        """How much larger the answer of one group is than that of another: an interval from both error bars."""
        from sordino.session.difference import difference

        return difference(self._whole, first, second)

    @property
    def outputs(self) -> dict[str, Any]:
        """Answers by name, for a function with several outputs."""
        names = self.event.statistic.get("outputs")
        if not names or not isinstance(self.value, tuple) or len(self.value) != len(names):
            raise ParameterError(
                "release", "has no named outputs", hint='sd.Function(f, ..., outputs=("intercept", "slope"))'
            )
        return dict(zip(names, self.value, strict=True))

    @property
    def by_key(self) -> dict[Any, Any]:
        """The answers by name: by group, then by statistic, then by cell.

        Example:
            >>> import sordino as sd
            >>> people = sd.open({"age": [31, 45, 28, 60]}, budget=sd.Pure(3))
            >>> answer = people.release([sd.Count("age"), sd.Histogram("age", edges=(0, 40, 80))], sd.Pure(1))
            >>> list(answer.by_key), list(answer.by_key["histogram age"])
            (['count age', 'histogram age'], ['0 to 40', '40 to 80'])
        """
        found: dict[Any, Any] = {}
        for row in self.table:
            level = found
            for key in row.group.values():
                level = level.setdefault(key, {})
            if row.cell is None:
                level[row.label] = row.value
            else:
                level.setdefault(row.label, {})[row.cell] = row.value
        return found

    def to_frame(self, backend: str | None = None) -> Any:
        """The table as a frame.

        Args:
            backend: ``"pandas"``, ``"polars"`` or ``"pyarrow"``; the first that is installed unless named.
        """
        return self.table.to_frame(backend)

    def to_csv(self) -> str:
        """The table as CSV, every digit kept."""
        return self.table.to_csv()

    def to_markdown(self) -> str:
        """The tables that people read, in Markdown."""
        from sordino.session.blocks import markdown

        return markdown(self._whole)

    def plot(self) -> Any:
        """A picture: histograms, quantiles, groups as dots, with the intervals that were paid for."""
        from sordino.session.figures import picture

        return picture(self._whole)

    @staticmethod
    def schema() -> dict[str, Any]:
        """The JSON schema of a release."""
        from importlib.resources import files

        schema: dict[str, Any] = json.loads(
            files("sordino").joinpath("release.schema.json").read_text(encoding="utf-8")
        )
        return schema

    def explain(self, width: int = 92) -> str:
        """Say what was published and promised, for a reader who is not a specialist.

        Args:
            width: How wide a line may be.
        """
        from sordino.explain import explanation

        return explanation(self._whole, width)

    def text(self, width: int | None = None) -> str:
        """The answers as tables of text, nothing left out.

        Args:
            width: How wide a line may be.
        """
        from sordino.session.blocks import text

        return text(self._whole, width)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        from sordino.explain import asked
        from sordino.labels import shown

        several = len(self.table) > 1
        value = ", ".join(row.named for row in self.table) if several else shown(self.value)
        return f"<Release {asked(self.event)} = {value}, {self.guarantee!r}>"

    def _repr_html_(self) -> str:
        from sordino.session.page import page

        return page(self._whole)
