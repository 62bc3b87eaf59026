"""`Share`: a part of a ledger's ceiling for one person, one dataset, or one person's questions about one dataset.

The ceiling protects people and holds against all who ask together; shares divide it, and may add up to more. A row of
kind ``limit`` states what was spent under it so far, and every later spend the running total: one row decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sordino.errors import Frozen, LimitExceeded, ParameterError
from sordino.ledger import account
from sordino.ledger.chain import amount, canonical
from sordino.ledger.declared import Declared
from sordino.ledger.who import check_name, visible
from sordino.privacy import Guarantee

if TYPE_CHECKING:
    from sordino.ledger.chain import ChainRow
    from sordino.ledger.store import Page


@dataclass(frozen=True, slots=True)
class Sharer:
    """Whose spends are counted: those of a user, those about a dataset, or those of both."""

    user: str | None = None
    data: str | None = None

    def __post_init__(self) -> None:
        check_name("limit", user=self.user, data=self.data)
        if self.user is None and self.data is None:
            raise ParameterError("limit", "names a user, a dataset or both", hint='user="ana"')

    @property
    def key(self) -> str:
        """Its name in a row."""
        return canonical({name: text for name, text in (("data", self.data), ("user", self.user)) if text})

    @property
    def words(self) -> str:
        """In words."""
        about = f" about {visible(self.data)}" if self.data else ""
        return f"{visible(self.user)}'s questions{about}" if self.user else f"all questions{about}"

    def covers(self, user: str, data: str) -> bool:
        """Whether a spend counts."""
        return self.user in (None, user) and self.data in (None, data)


@dataclass(frozen=True, slots=True)
class Share:
    """A limit as it stands.

    Attributes:
        subject: Whose spends it counts.
        ceiling: What they may cost in all; None where only a freeze was ever said.
        frozen: Whether they are refused for now.
        spent: What they had cost when the row was written.
        number: The row.
        at: When.
        by: Who decided it.
        reason: Why.
    """

    subject: Sharer
    ceiling: Guarantee | None
    frozen: bool
    spent: Guarantee
    number: int = 0
    at: str = ""
    by: str = ""
    reason: str = ""

    @classmethod
    def of(cls, row: ChainRow) -> Share:
        """Read a row of kind ``limit``."""
        body = row.content
        ceiling = body["ceiling"]
        return cls(
            Sharer(body["subject"].get("user"), body["subject"].get("data")),
            None if ceiling is None else Guarantee.from_dict(ceiling),
            bool(body["frozen"]),
            Guarantee.from_dict(body["spent"]),
            row.number,
            row.at,
            str(body["who"].get("user", "")),
            body["reason"],
        )

    def check(self, name: str, before: Guarantee, cost: Guarantee) -> None:
        """Refuse a spend that this share does not allow."""
        why = "Nothing was read and nothing was spent."
        if self.frozen:
            raise Frozen(
                f"ledger {name}",
                f"{self.subject.words} are frozen by {visible(self.by)} since {self.at[:10]}: {visible(self.reason)}",
                why=why, hint="ask whoever froze them",
            )  # fmt: skip
        if self.ceiling is not None and not (before + cost).within(self.ceiling):
            raise LimitExceeded(
                f"ledger {name}", f"the share of {self.subject.words} has not enough left",
                got={"asked": cost, "left": account.left(self.ceiling, before), "of": self.ceiling},
                why=why, hint="ask for less, or for a larger share",
            )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rules:
    """The shares and the declared datasets of a ledger, up to a row."""

    shares: Mapping[str, Share] = field(default_factory=dict)
    datasets: Mapping[str, Declared] = field(default_factory=dict)
    upto: int = 0

    def after(self, rows: Iterable[ChainRow]) -> Rules:
        """The same with later rows."""
        shares, datasets, upto = dict(self.shares), dict(self.datasets), self.upto
        for row in rows:
            upto = row.number
            if row.kind == "limit":
                share = Share.of(row)
                shares[share.subject.key] = share
            else:
                declared = Declared.from_dict(row.content["dataset"])
                datasets[declared.name] = declared
        return self if upto == self.upto else Rules(shares, datasets, upto)

    def over(self, user: str, data: str) -> list[Share]:
        """The shares that count a spend."""
        return [share for share in self.shares.values() if share.subject.covers(user, data)]

    def broken(self, event: Mapping[str, Any], cost: Guarantee, told: Mapping[str, Any]) -> str:
        """Which rule of its dataset a spend would break, in words."""
        if not self.datasets:
            return ""
        data = data_of(event)
        if data not in self.datasets:
            return f"only declared datasets may be asked, and {visible(data) or 'this one'} is not declared"
        return self.datasets[data].broken(event, cost, told)


class PaidTally:
    """What every pair of user and dataset has paid, for replaying: prices are counted, and added up when asked."""

    def __init__(self) -> None:
        self._paid: dict[tuple[str, str], Counter[str]] = {}

    def add(self, user: str, data: str, cost: str) -> None:
        """Count a price as it is written."""
        self._paid.setdefault((user, data), Counter())[cost] += 1

    def of(self, subject: Sharer, nothing: Guarantee) -> Guarantee:
        """The total of a subject."""
        total = nothing
        for (user, data), costs in self._paid.items():
            if subject.covers(user, data):
                for text, times in costs.items():
                    total += amount(text).times(times)
        return total


def data_of(event: Mapping[str, Any]) -> str:
    """The public name of the data of an event."""
    return str((event.get("data") or {}).get("name", ""))


def spent_by(page: Page, share: Share) -> Guarantee:
    """The running total of a share: in the last spend that it counts, or in its own row when there was none since."""
    last = page.last_spend(share.subject.user, share.subject.data)
    if last is None or last.number < share.number:
        return share.spent
    return Guarantee.from_dict(last.content["totals"][share.subject.key])


def total_so_far(page: Page, subject: Sharer, nothing: Guarantee) -> Guarantee:
    """What a subject has paid, from its spends one by one; once, when its first limit is set."""
    total = nothing
    for row in page.spends_of(subject.user, subject.data):
        total += Guarantee.from_dict(row.content["cost"])
    return total
