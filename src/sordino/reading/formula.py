"""`Formula`: a derived column, public and per row, and the one text in which it is asked for and kept.

``sd.col("income") / sd.col("household_size")`` is the column ``(income / household_size)``; the same text is read from
the command line and from release files. A formula says what one row's value is from that row alone, so whatever holds
for columns holds for it. How it is computed, to the bit and in every source, is in `sordino.data.steps`.
"""

from __future__ import annotations

import ast
import keyword
import math
import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

from sordino import checks
from sordino.errors import ParameterError

LONGEST = 200_000
"""Characters of a formula: a mapping may name many texts."""

MOST_NODES = 200
"""Columns, numbers and operations of a formula."""

MOST_BINS = 1000

TINY = 2.0**-500
"""Smaller numbers count as 0 (`sordino.data.steps`)."""

_WORDS = re.compile(r"(?s)\(.*\)|(log|days|bin|map)\(.*\)")
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_COMPUTE = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2}
_HINT = 'sd.col("income") / sd.col("household_size"), or "(income / household_size)"'


@dataclass(frozen=True)
class Formula:
    """A derived column; `col` makes the first one of each.

    Attributes:
        op: ``col``, ``number``, ``+``, ``-``, ``*``, ``/``, ``log``, ``days``, ``bin`` or ``map``.
        parts: The formulas that it is made of.
        name: The column of ``col``.
        number: The value of ``number``.
        edges: Of ``bin``.
        pairs: Texts and the groups they are mapped to, of ``map``.
        otherwise: The group of all other texts, of ``map``.

    Example:
        >>> rate = col("income") / col("household size")
        >>> rate.text
        "(income / col('household size'))"
        >>> Formula.read(rate.text) == rate
        True
        >>> col("age").bins(0, 18, 65).labels
        ('0 to 18', '18 to 65')
    """

    op: str
    parts: tuple[Formula, ...] = ()
    name: str = ""
    number: float = 0.0
    edges: tuple[float, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    otherwise: str | None = None

    # What people write ---------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Formula:
        return _operation("+", self, other)

    def __radd__(self, other: Any) -> Formula:
        return _operation("+", other, self)

    def __sub__(self, other: Any) -> Formula:
        return _operation("-", self, other)

    def __rsub__(self, other: Any) -> Formula:
        return _operation("-", other, self)

    def __mul__(self, other: Any) -> Formula:
        return _operation("*", self, other)

    def __rmul__(self, other: Any) -> Formula:
        return _operation("*", other, self)

    def __truediv__(self, other: Any) -> Formula:
        return _operation("/", self, other)

    def __rtruediv__(self, other: Any) -> Formula:
        return _operation("/", other, self)

    def __neg__(self) -> Formula:
        return _operation("-", 0, self)

    def __bool__(self) -> bool:
        raise ParameterError("formula", "has no truth value", hint='where(("age", ">=", 18))')

    def log(self) -> Formula:
        """The natural logarithm; of what is not above 0 there is none."""
        if self.op == "number":
            value = math.log(self.number) if self.number > 0 else 1.0
            raise ParameterError(
                "formula", "log is of columns", got={"number": self.number}, hint=repr(value)
            )
        return Formula("log", (self._numeric(),))

    def days(self) -> Formula:
        """A column of dates as whole days since 1970-01-01; a difference of two is a number of days."""
        if self.op != "col":
            raise ParameterError("formula", "days is of a column of dates", hint='sd.col("born").days()')
        return Formula("days", (self,))

    def bins(self, *edges: Any) -> Formula:
        """The cell ``[edge, next edge)`` that a number lies in, as a text; outside of all there is none.

        Example:
            >>> Formula.read("age").bins(0, 18, 65) == Formula.read("age").bins([0, 18, 65])
            True
        """
        if len(edges) == 1 and isinstance(edges[0], Iterable) and not isinstance(edges[0], str):
            edges = tuple(edges[0])  # a list of them, as elsewhere
        given = tuple(float(checks.exact("bins", edge=edge)) + 0.0 for edge in edges)
        if not 2 <= len(given) <= MOST_BINS + 1 or any(a >= b for a, b in pairwise(given)):
            raise ParameterError(
                "bins", f"edges must increase, at least two and at most {MOST_BINS + 1}",
                got={"edges": len(given)}, hint='sd.col("age").bins(0, 18, 65, 120)',
            )  # fmt: skip
        return Formula("bin", (self._numeric(),), edges=given)

    def mapped(self, groups: Mapping[str, str], *, otherwise: str | None = None) -> Formula:
        """The group of a text; without ``otherwise`` texts that are not named have none."""
        fine = isinstance(groups, Mapping) and groups and self.op == "col"
        named = dict(groups) if fine else {}
        if not fine or not all(isinstance(text, str) for pair in named.items() for text in pair):
            raise ParameterError(
                "map", "a mapping is from texts of a column to names of groups",
                hint='sd.col("state").mapped({"CA": "west", "NY": "east"})',
            )  # fmt: skip
        checks.texts("map", [*named, *named.values(), otherwise])
        return Formula("map", (self,), pairs=tuple(named.items()), otherwise=otherwise)

    def _numeric(self) -> Formula:
        if self.labels is not None:
            raise ParameterError("formula", "groups are no numbers", got={"formula": self.text}, hint=_HINT)
        return self

    # What is kept --------------------------------------------------------------------------------------

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The groups that a formula puts rows into, each once; None for numbers."""
        if self.op == "bin":
            return tuple(f"{_number(a)} to {_number(b)}" for a, b in pairwise(self.edges))
        if self.op == "map":
            named = [group for _, group in self.pairs]
            return tuple(dict.fromkeys(named if self.otherwise is None else [*named, self.otherwise]))
        return None

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        own = (self.name,) if self.op == "col" else ()
        return tuple(dict.fromkeys([*own, *(name for part in self.parts for name in part.columns)]))

    def __iter__(self) -> Iterator[Formula]:
        """All formulas that it is made of, itself last."""
        for part in self.parts:
            yield from part
        yield self

    @cached_property
    def text(self) -> str:
        """How it is asked for: a column of this name, wherever a column can be named."""
        return self.name if self.op == "col" and not formula_like(self.name) else self._written(outer=True)

    def __str__(self) -> str:
        return self.text

    def _written(self, *, outer: bool = False) -> str:
        if self.op == "col":
            plain = re.fullmatch(r"(?a)[A-Za-z_]\w*", self.name) and self.name not in _KEYWORDS
            written = self.name if plain else f"col({self.name!r})"
            return f"({written})" if outer else written
        if self.op == "number":
            return _number(self.number)
        inner = [part._written() for part in self.parts]
        if self.op in _BINDS:
            left, right = self.parts
            if _BINDS.get(left.op, 3) < _BINDS[self.op]:
                inner[0] = f"({inner[0]})"
            if _BINDS.get(right.op, 3) <= _BINDS[self.op]:
                inner[1] = f"({inner[1]})"
            written = f"{inner[0]} {self.op} {inner[1]}"
            return f"({written})" if outer else written
        if self.op == "bin":
            inner += map(_number, self.edges)
        if self.op == "map":
            inner.append("{" + ", ".join(f"{text!r}: {group!r}" for text, group in self.pairs) + "}")
            inner += [] if self.otherwise is None else [repr(self.otherwise)]
        return f"{self.op}({', '.join(inner)})"

    @staticmethod
    def read(text: str) -> Formula:
        """Read what `text` wrote, or what a person has written in the same way.

        Example:
            >>> Formula.read("log((income + 1) / 2)").text
            'log((income + 1) / 2)'
        """
        return _read(text)


def col(name: str) -> Formula:
    """A column, to compute with: ``sd.col("income") / sd.col("household_size")``.

    The result is named wherever a column can be: in a statistic, in ``where``, in ``release_by``. It is public, and a
    row's value is from that row alone. Numbers are doubles; a row without one of them, a division by zero and the
    logarithm of what is not above 0 have no value, and follow the statistic's ``missing``.

    Example:
        >>> import sordino as sd
        >>> sd.Mean(sd.col("income") / sd.col("people"), low=0, high=100_000).column
        '(income / people)'
        >>> sd.Median("(days(end) - days(start))", low=0, high=365).column
        '(days(end) - days(start))'
    """
    return Formula("col", name=checks.plain_text("col", hint='sd.col("income")', name=name))


def formula_like(name: str) -> bool:
    """Whether the name of a column is written like a formula; a column that has this very name comes first."""
    return isinstance(name, str) and _WORDS.fullmatch(name) is not None


def column_name(given: Any) -> Any:
    """The name of a column that was given as a formula; anything else as it is."""
    return given.text if isinstance(given, Formula) else given


def own_groups(name: str) -> tuple[str, ...]:
    """The groups that a derived column of bins or of a mapping puts rows into; none of any other column."""
    return (Formula.read(name).labels or ()) if formula_like(name) else ()


_KEYWORDS = frozenset({"col", "log", "days", "bin", "map", *keyword.kwlist})


def _operation(op: str, left: Any, right: Any) -> Formula:
    first, second = (_operand(one)._numeric() for one in (left, right))
    if op == "/" and second.op == "number" and abs(second.number) < TINY:
        raise ParameterError("formula", "a divisor must not be 0", got={"divisor": second.number}, hint=_HINT)
    if first.op == second.op == "number":  # numbers alone are one number
        return _operand(_COMPUTE[op](Fraction(first.number), Fraction(second.number)))
    return Formula(op, (first, second))


def _operand(given: Any) -> Formula:
    if isinstance(given, Formula):
        return given
    if isinstance(given, str):
        raise ParameterError(
            "formula", "a text is not a number", got={"text": given}, hint=f"sd.col({given!r})"
        )
    return Formula("number", number=float(checks.exact("formula", number=given)) + 0.0)


def _number(value: float) -> str:
    """A number as it is read back: the shortest decimal of its double."""
    return str(int(value)) if value == math.floor(value) and abs(value) < 1e15 else repr(value)


@lru_cache(maxsize=256)
def _read(text: str) -> Formula:
    if len(text) > LONGEST:
        raise _unreadable(text[:40] + "...", f"It has more than {LONGEST:,} characters.")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        count = sum(1 for node in ast.walk(tree) if isinstance(node, ast.BinOp | ast.Call | ast.Name))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unreadable(text, "It has columns, numbers, + - * / and log, days, bin and map.") from None
    if count > MOST_NODES:
        raise _unreadable(text[:40] + "...", f"It has more than {MOST_NODES} parts.")
    return _built(tree, text)


def _built(node: ast.expr, text: str) -> Formula:
    """A formula from Python's own tree of an expression; whatever else an expression may hold is refused."""
    if isinstance(node, ast.BinOp) and type(node.op) in _SIGNS:
        return _operation(_SIGNS[type(node.op)], _built(node.left, text), _built(node.right, text))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _built(node.operand, text)
        return _operand(-inner.number) if inner.op == "number" else -inner
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return _operand(node.value)
    if isinstance(node, ast.Name):
        return col(node.id)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return _called(node.func.id, node.args, text)
    raise _unreadable(text, "It has columns, numbers, + - * / and log, days, bin and map.")


def _called(name: str, given: list[ast.expr], text: str) -> Formula:
    try:
        if name == "col" and len(given) == 1:
            return col(ast.literal_eval(given[0]))
        if name in ("log", "days") and len(given) == 1:
            inner = _built(given[0], text)
            return inner.log() if name == "log" else inner.days()
        if name == "bin" and len(given) > 2:
            return _built(given[0], text).bins(*map(ast.literal_eval, given[1:]))
        if name == "map" and len(given) in (2, 3):
            groups, *others = map(ast.literal_eval, given[1:])
            return _built(given[0], text).mapped(groups, otherwise=others[0] if others else None)
    except ParameterError:
        raise
    except (ValueError, TypeError, SyntaxError, RecursionError):
        pass
    raise _unreadable(
        text, "log(x), days(date), bin(x, 0, 18, 65), map(text, {'CA': 'west'}), col('a name with spaces')."
    )


def _unreadable(text: str, why: str) -> ParameterError:
    return ParameterError(
        "formula", "a derived column must be readable", got={"column": text}, why=why, hint=_HINT
    )
