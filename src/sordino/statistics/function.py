"""Any function of a table: it is taken on blocks of rows, and what the blocks say is put together privately."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import inspect
import io
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from sordino import checks
from sordino.errors import ParameterError, Unsupported
from sordino.lattice import FINE_BITS, RowLattice
from sordino.privacy import Neighbors
from sordino.reading.requests import Blocks
from sordino.reading.traits import Trait
from sordino.running.block import FRAMES, check_frame
from sordino.running.worker import ProcessLimits
from sordino.statistics import DEPTH, Case, Statistic

if TYPE_CHECKING:
    from sordino.reading.profile import Opened
    from sordino.reading.requests import Summary

LARGEST = 1 << 20
"""Bytes of a function with all that it holds: more than that is a table."""

AGGREGATES = ("trimmed", "median", "mean")
ISOLATIONS = ("process", "sandbox", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Function(Statistic):
    """Your own function of a table, released privately: a slope, a Gini index, the AUC of a model.

    The rows are dealt into blocks at random, every person into one. The function is run on each block alone, and the
    block values, cut to the bounds, are put together by a mechanism that one value cannot move far. The bounds may be
    a thousand times too wide. What is released is about the value of the function on blocks of so many rows.

    Args:
        f: A function of one argument, a frame with the columns named; or ``"module:name"``.
        columns: The columns that it gets, in this order.
        low: Public lower bound of its values, or one per output.
        high: Public upper bound, or one per output.
        label: What it is called in words; the function's own name by default.
        outputs: Names of several numbers that it returns (as a sequence, or a mapping by these names).
        spread: Public guess of the standard deviation of its value over blocks: with it fewer blocks will do.
        blocks: The number of blocks; from public numbers by default.
        block_rows: Rows that it needs at least.
        debias: Parts of a jackknife inside each block; by default 5 where a block has 60 rows or more, else 0.
        otherwise: The public number that stands for a block without a number; by default the bounds in turn.
        failures: Buy the number of blocks without a number, with noise, for a twentieth of the price.
        unbiased: You vouch that it is unbiased on small blocks, so that an interval may be had there.
        aggregate: ``"trimmed"``, ``"median"`` or ``"mean"``; by default as the price and the interval need.
        frame: What it gets: ``"pandas"``, ``"polars"``, ``"pyarrow"``, or ``"numpy"`` for a dict of arrays.
        isolation: ``"process"``, ``"sandbox"`` (refused where the system cannot keep it), or ``"none"``.
        seconds: How long one block may take; then it is stopped and has no value.
        memory: How many bytes one block may use.
        workers: Blocks that run at once.
        progress: Is called with the blocks done and the blocks in all.
        neighbors: Which two datasets are neighbours.
        split: Whether rows of one person may be in several groups; set by a session.
        fixed: Whether the number of rows is public, so that blocks are of one size; set by a session.

    Example:
        >>> import sordino as sd
        >>> people = sd.open({"income": [float(x % 997) for x in range(4000)]}, budget=sd.Pure(3))
        >>> def top_share(block):
        ...     ordered = sorted(block["income"])
        ...     return sum(ordered[len(ordered) // 2 :]) / sum(ordered)
        >>> share = sd.Function(top_share, columns=["income"], low=0, high=1, frame="numpy")
        >>> 0.6 < float(people.release(share, sd.Pure(1))) < 0.9
        True
    """

    name: ClassVar[str] = "function"
    suits: ClassVar[tuple[str, ...]] = ("blocks",)

    f: Any = field(kw_only=False, metadata={"argument": True})
    columns: tuple[str, ...]
    low: float | tuple[float, ...]
    high: float | tuple[float, ...]
    label: str | None = None
    outputs: tuple[str, ...] = ()
    spread: float | None = None
    blocks: int | None = None
    block_rows: int = 20
    debias: int | None = None
    otherwise: float | None = None
    failures: bool = False
    unbiased: bool = False
    aggregate: str | None = None
    frame: str = "pandas"
    isolation: str = "process"
    seconds: float = 10.0
    memory: int = 2**31
    workers: int = 2
    progress: Callable[[int, int], None] | None = field(
        default=None, compare=False, metadata={"hidden": True}
    )
    neighbors: Neighbors = Neighbors.REPLACE_ONE
    split: bool = field(default=False, metadata={"hidden": True})
    fixed: bool = field(default=False, metadata={"hidden": True})
    pickled: bytes = field(init=False, repr=False, compare=False)
    digest: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        assign = object.__setattr__
        self.check_relation()
        for name in ("columns", "outputs"):
            given = getattr(self, name)
            assign(self, name, (given,) if isinstance(given, str) else tuple(given))
        checks.texts(self.name, (*self.columns, *self.outputs))
        if not self.columns or len(set(self.columns)) != len(self.columns):
            raise ParameterError(
                self.name, "columns must name one column or more, each once", got={"columns": list(self.columns)},
                why="The function gets these columns and nothing else.", hint='columns=["income"]',
            )  # fmt: skip
        if len(set(self.outputs)) != len(self.outputs) or len(self.outputs) == 1:
            raise ParameterError(
                self.name, "outputs are several different names", got={"outputs": list(self.outputs)},
                hint='outputs=("intercept", "slope"), or none for a single number',
            )  # fmt: skip
        for grid in self.grids:
            assert grid.last
        for name, words in (("frame", FRAMES), ("isolation", ISOLATIONS), ("aggregate", AGGREGATES)):
            value = getattr(self, name)
            if value not in words and not (name == "aggregate" and value is None):
                raise ParameterError(
                    self.name, f"{name} must be one of {', '.join(words)}", got={name: value}
                )
        for name, least in (
            ("block_rows", 1),
            ("blocks", 2),
            ("debias", 0),
            ("memory", 1 << 26),
            ("workers", 1),
        ):
            value = getattr(self, name)
            if value is not None:
                checks.whole(self.name, at_least=least, **{name: value})
        checks.positive(self.name, seconds=self.seconds)
        if self.spread is not None:
            checks.positive(self.name, spread=self.spread)
        if self.otherwise is not None:
            checks.exact(self.name, otherwise=self.otherwise)
        check_frame(self.frame)
        if isinstance(self.f, str) and ":" in self.f and " " not in self.f:
            assign(self, "f", _named(self.f))
        pickled, digest, label = _kept(self.f)
        assign(self, "pickled", pickled)
        assign(self, "digest", digest)
        if self.label is None:
            assign(self, "label", label)

    @property
    def grids(self) -> tuple[RowLattice, ...]:
        """The public lattice of each output."""
        width = max(1, len(self.outputs))
        ends = []
        for name in ("low", "high"):
            given = getattr(self, name)
            several = tuple(given) if isinstance(given, Sequence) else (given,) * width
            if len(several) != width:
                raise ParameterError(
                    self.name, f"{name} must be one number, or one per output", got={name: given},
                    hint="low=-100, high=100",
                )  # fmt: skip
            ends.append(several)
        try:
            return tuple(RowLattice(low, high, bits=FINE_BITS) for low, high in zip(*ends, strict=True))
        except ParameterError as error:
            raise ParameterError(
                self.name, error.rule, got=error.got, why=error.why, hint=error.hint
            ) from None

    @property
    def limits(self) -> ProcessLimits:
        """How it runs."""
        return ProcessLimits(self.isolation, float(self.seconds), self.memory, self.workers)

    @property
    def runnable(self) -> bool:
        """False for one that was read back from a record, which holds no code."""
        return bool(self.pickled)

    @property
    def traits(self) -> frozenset[Trait]:
        """It is taken block by block; nothing else is known of it."""
        return frozenset({Trait.BLOCKS})

    def request(self, *, depth: int = DEPTH) -> Blocks:
        """The rows of its columns."""
        return Blocks(self.columns, whole=not self.split, depth=depth)

    def open(self, summary: Summary) -> Opened:
        """It has no value on the whole table and no envelopes; only a mechanism on blocks answers."""
        del summary
        self._unreadable()

    def define(self, rows: Sequence[Any]) -> Any:
        """As `open`."""
        del rows
        self._unreadable()

    def _unreadable(self) -> NoReturn:
        raise Unsupported(
            self.name, "is read in blocks only",
            why="How far one row can move it on a whole table is not known.", hint="leave mechanism= out",
        )  # fmt: skip

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """None: it has no envelopes. Its laws are those of the dealing (tests/mechanisms/test_blocks.py)."""
        return ()

    def rehearse(self, example: Any, *, blocks: int = 8, rows: int | None = None) -> Any:
        """Run the function on blocks of public rows and show what happens: values, times, tracebacks.

        Args:
            example: Public or generated rows, as `sd.open` takes them. Never the private ones: everything is shown.
            blocks: How many blocks to try.
            rows: Rows of a block; 60 or ``block_rows`` by default.
        """
        from sordino.running.evaluate import Task
        from sordino.running.rehearsal import rehearse

        columns = {name: list(example[name]) for name in self.columns}
        task = Task(self.frame, self.outputs, self.debias or 0, tuple(self.columns))
        return rehearse(
            self.pickled, columns, task, self.limits, blocks=blocks, rows=rows or max(self.block_rows, 60)
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but the code: its name and its digest stand for it."""
        hidden = {"f", "progress", "split", "fixed"}
        base = {
            f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.init and f.name not in hidden
        }
        plain = {
            name: {"neighbors": value.value}
            if isinstance(value, Neighbors)
            else list(value) if isinstance(value, tuple) else value
            for name, value in base.items()
        }  # fmt: skip
        return {"kind": self.name, "f": f"{self.label} sha256:{self.digest}", **plain}


def _named(text: str) -> Any:
    """The function that ``module:name`` names."""
    module, _, name = text.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as problem:
        raise ParameterError(
            "function", "module:name must name a function that can be imported", got={"f": text},
            hint="write it into my_module.py beside the data and name my_module:gini",
        ) from problem  # fmt: skip
    return found


def _kept(f: Any) -> tuple[bytes, str, str]:
    """The function as bytes, its digest, and what it is called; refused where it holds what it must not see."""
    if isinstance(f, str):
        label, mark, digest = f.rpartition(" sha256:")
        if mark:
            return b"", digest, label
    if not callable(f):
        raise ParameterError(
            "function", "f must be a function", got={"f": type(f).__name__},
            hint="sd.Function(lambda block: block.income.std(), columns=['income'], low=0, high=1e6)",
        )  # fmt: skip
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        """Looks at everything that the function holds."""

        def reducer_override(self, held: Any) -> Any:
            """Refuse tables and what leads to them."""
            word = _table(held)
            if word:
                raise _holds(word)
            return super().reducer_override(held)

    room = io.BytesIO()
    stray = _stray(f)
    try:
        if stray is not None:
            cloudpickle.register_pickle_by_value(stray)
        Pickler(room).dump(f)
    except ParameterError:
        raise
    except Exception as problem:
        raise ParameterError(
            "function", "f must be a function that can be sent to another process", got={"f": _called(f)},
            why="It holds something that belongs to this one, such as an open file.",
            hint="open and import what it needs inside of it",
        ) from problem  # fmt: skip
    finally:
        if stray is not None:
            cloudpickle.unregister_pickle_by_value(stray)
    pickled = room.getvalue()
    if len(pickled) > LARGEST:
        raise _holds(f"{len(pickled):,} bytes")
    try:
        text = inspect.getsource(f).encode()
    except (OSError, TypeError):
        text = pickled
    return pickled, hashlib.sha256(text).hexdigest(), _called(f)


def _stray(f: Any) -> Any:
    """The module of a function where no other process could import it: then the code itself is sent."""
    module = sys.modules.get(getattr(f, "__module__", None) or "")
    if module is None or module.__name__ == "__main__":
        return None
    place = getattr(module, "__file__", None)
    try:
        spec = PathFinder.find_spec(module.__name__.rpartition(".")[2], getattr(
            sys.modules.get(module.__name__.rpartition(".")[0]), "__path__", None
        ))  # fmt: skip
    except (ImportError, ValueError):
        spec = None
    found = spec is not None and spec.origin == place
    return None if found or place is None else module


def _called(f: Any) -> str:
    name = getattr(f, "__name__", type(f).__name__)
    return "lambda" if name == "<lambda>" else str(name)


def _table(held: Any) -> str:
    """What a function must not hold, in a word; empty for what it may."""
    kind = type(held)
    package, name = kind.__module__.partition(".")[0], kind.__name__
    if package in {"pandas", "polars", "pyarrow", "duckdb", "pyspark"} and name in {
        "DataFrame", "Series", "LazyFrame", "Table", "RecordBatch", "ChunkedArray", "DuckDBPyRelation",
    }:  # fmt: skip
        return f"a {name} of {package}"
    if package == "numpy" and getattr(held, "size", 0) > 1000:
        return "an array of more than 1000 numbers"
    if package == "sordino" and name in {"Session", "Memory", "Lazy", "Ledger"}:
        return f"a {name}"
    return "a module of data" if isinstance(held, Mapping) and len(held) > 10_000 else ""


def _holds(word: str) -> ParameterError:
    return ParameterError(
        "function", "f must not hold a table", got={"holds": word},
        why="It may see nothing but its block: then one person is in one block only, and the promise holds.",
        hint="use the block that it is given: lambda block: block.income.mean()",
    )  # fmt: skip
