"""A device's own budget for repeated reports: losses per metre add up over queries and over time.

Kept on the device and debited before a report is drawn. Sending a stored report once more costs nothing; drawing a
new one always costs, also at the same place, or the pattern of new reports would tell when the device moved.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from sordino.errors import BudgetExceeded, LedgerError, ParameterError
from sordino.geo.budget_file import BudgetFile
from sordino.geo.reporting import Reports, draw
from sordino.privacy import Geo

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sordino.exact.bits import Bits
    from sordino.geo.blocks import BlockMechanism
    from sordino.geo.mechanism import QueryMechanism


@dataclass(slots=True)
class DeviceBudget:
    """What one device may reveal in total.

    Args:
        total: The ceiling. A file keeps the one it was begun with: a larger one is refused later, a smaller one holds
            for this object.
        path: A file that survives restarts and that several processes may share; without one the budget lives as long
            as the object.
        spent: What is spent already, per unit of distance.
        log: What it was spent on.

    Example:
        >>> from sordino.geo import QueryMechanism, Threshold
        >>> budget = DeviceBudget(Geo(1, per=100))
        >>> made = QueryMechanism.choose(Threshold(at=100, width=20), Geo(0.4, per=100))
        >>> first = budget.report(120.0, made)
        >>> budget.left
        Geo(epsilon=0.6, per=100)
    """

    total: Geo
    path: Path | None = None
    spent: Fraction = field(default=Fraction(0))
    log: list[dict[str, str]] = field(default_factory=list)
    _file: BudgetFile | None = field(default=None, init=False, repr=False)
    _one: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.total, Geo):
            raise ParameterError(
                "budget", "total must be Geo", got={"total": self.total}, hint="Geo(4, per=200)"
            )
        if self.path is not None:
            self.path = Path(self.path)
            self._file = BudgetFile(self.path)
            self._file.begin(self.total)
            self._read()

    @property
    def left(self) -> Geo:
        """What is left, per the same distance, as the file has it now."""
        if self._file is not None:
            self._read()
        return self._left()

    def spend(self, price: Geo, what: str) -> None:
        """Debit a price, or raise; written to disk before it returns."""
        if not isinstance(price, Geo):
            raise ParameterError("budget", "price must be Geo", got={"price": price}, hint="Geo(1, per=200)")
        if self._file is None:
            with self._one:
                self._debit(price, what)
            return
        with self._file.alone() as kept:  # nobody else reads or writes between here and the new file
            self._take(kept.total, kept.log)
            self._debit(price, what)
            kept.save(self.log)

    def _debit(self, price: Geo, what: str) -> None:
        if self.spent + price.rate > self.total.rate:
            raise BudgetExceeded(
                "budget",
                "the device has not enough left for this report",
                got={"price": price, "left": self._left()},
                why="Losses per metre add up over all reports of one device.",
                hint="a smaller price, or send the stored report again",
            )
        self.spent += price.rate
        self.log.append({"what": what, "rate": str(price.rate)})

    def _left(self) -> Geo:
        return Geo(max(Fraction(0), self.total.epsilon - self.spent * self.total.per), self.total.per)

    def report(
        self, point: ArrayLike, made: QueryMechanism | BlockMechanism, *, bits: Bits | None = None
    ) -> Reports:
        """Debit and draw one report about the device's point."""
        at = made.query.points(point)  # the shape is checked before anything is spent
        if at.shape[0] != 1:
            raise ParameterError(
                "budget", "a device reports one point at a time", got={"points": at.shape[0]}
            )
        self.spend(made.price, made.id)
        return draw(made, at, bits=bits)

    def _read(self) -> None:
        assert self._file is not None
        kept = self._file.read()
        self._take(kept.total, kept.log)

    def _take(self, total: Geo, log: list[dict[str, str]]) -> None:
        """Go on from what the file says."""
        if self.total.rate > total.rate:
            raise LedgerError(
                "budget",
                "the device's budget was started with a smaller total",
                got={"total": self.total, "begun": total, "path": str(self.path)},
                why="What a device may reveal is decided once: a larger total later would undo the promise.",
                hint=f"total={total!r}",
            )
        self.log = log
        self.spent = sum((Fraction(entry["rate"]) for entry in log), Fraction(0))
