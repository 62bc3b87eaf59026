"""A device's own budget for repeated reports: losses per metre add up over queries and over time.

Kept on the device and debited before a report is drawn. Sending a stored report once more costs nothing; drawing a
new one always costs, also at the same place, or the pattern of new reports would tell when the device moved.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sordino.errors import BudgetExceeded, LedgerError, ParameterError
from sordino.geo.reporting import Reports, draw
from sordino.privacy import Geo

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sordino.exact.bits import Bits
    from sordino.geo.blocks import BlockMechanism
    from sordino.geo.mechanism import Mechanism


@dataclass(slots=True)
class DeviceBudget:
    """What one device may reveal in total.

    Args:
        total: The ceiling.
        path: A file that survives restarts; without one the budget lives as long as the object.

    Example:
        >>> from sordino.geo import Mechanism, Threshold
        >>> budget = DeviceBudget(Geo(1, per=100))
        >>> made = Mechanism.choose(Threshold(at=100, width=20), Geo(0.4, per=100))
        >>> first = budget.report(120.0, made)
        >>> budget.left
        Geo(epsilon=0.6, per=100)
    """

    total: Geo
    path: Path | None = None
    spent: Fraction = field(default=Fraction(0))
    log: list[dict[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not isinstance(self.total, Geo):
            raise ParameterError(
                "budget", "total must be Geo", got={"total": self.total}, hint="Geo(4, per=200)"
            )
        if self.path is not None:
            self.path = Path(self.path)
            if self.path.exists():
                self._load()

    @property
    def left(self) -> Geo:
        """What is left, per the same distance."""
        return Geo(self.total.epsilon - self.spent * self.total.per, self.total.per)

    def spend(self, price: Geo, what: str) -> None:
        """Debit a price, or raise; written to disk before it returns."""
        if self.spent + price.rate > self.total.rate:
            raise BudgetExceeded(
                "budget",
                "the device has not enough left for this report",
                got={"price": price, "left": self.left},
                why="Losses per metre add up over all reports of one device.",
                hint="a smaller price, or send the stored report again",
            )
        self.spent += price.rate
        self.log.append({"what": what, "rate": str(price.rate)})
        if self.path is not None:
            self._save()

    def report(
        self, point: ArrayLike, made: Mechanism | BlockMechanism, *, bits: Bits | None = None
    ) -> Reports:
        """Debit and draw one report about the device's point."""
        at = made.query.points(point)  # the shape is checked before anything is spent
        if at.shape[0] != 1:
            raise ParameterError(
                "budget", "a device reports one point at a time", got={"points": at.shape[0]}
            )
        self.spend(made.price, made.id)
        return draw(made, at, bits=bits)

    def _save(self) -> None:
        assert self.path is not None
        record = {"total": self.total.to_dict(), "spent": str(self.spent), "log": self.log}
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=self.path.name)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(record, file)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(self.path)

    def _load(self) -> None:
        assert self.path is not None
        try:
            record: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
            spent = Fraction(record["spent"])
            entries = [{"what": str(e["what"]), "rate": str(e["rate"])} for e in record["log"]]
            whole = sum((Fraction(e["rate"]) for e in entries), Fraction(0))
        except (OSError, ValueError, KeyError, TypeError, ZeroDivisionError) as error:
            raise LedgerError(
                "budget",
                "the device's budget file cannot be read",
                got={"path": str(self.path)},
                why="Without it the total spent is unknown, so nothing may be reported.",
            ) from error
        if spent != whole or spent < 0:
            raise LedgerError(
                "budget", "the device's budget file does not add up", got={"path": str(self.path)}
            )
        self.spent, self.log = spent, entries
