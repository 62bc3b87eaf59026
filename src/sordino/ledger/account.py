"""What a budget counts: prices converted into its terms, rounded up; what is left, rounded down.

Exact amounts, no storage. Sums are valid under adaptive questions: pure and approximate prices by basic composition,
concentrated ones by adding rho (docs/explanation/ledger.md). The ceiling protects people and holds against all who ask
together; shares of it, for one person, one dataset or both, divide it, and may add up to more. A row of kind ``limit``
states what was spent under it so far, and every later spend the running total: one row decides.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from sordino.address import pasted
from sordino.errors import BudgetExceeded, Frozen, LimitExceeded, ParameterError, Unsupported, spell
from sordino.ledger.chain import amount, canonical
from sordino.ledger.declared import Declared
from sordino.ledger.entry import check_name, visible
from sordino.privacy import (
    Approx,
    ApproxConcentrated,
    BoundedRange,
    Concentrated,
    Geo,
    Guarantee,
    Neighbors,
    TruncatedConcentrated,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sordino.ledger.chain import ChainRow
    from sordino.ledger.store import Page


G = TypeVar("G", bound=Guarantee)

GRAIN = 10**24 * math.lcm(*range(1, 65))
"""Totals are whole multiples of 1/GRAIN: decimals of 24 digits and small fractions are exact, and sums stay short."""

ADDED = {"epsilon", "delta", "rho"}


def counted(price: Guarantee, budget: Guarantee) -> Guarantee:
    """Say what a price costs in the terms of a budget.

    Example:
        >>> from sordino.privacy import BoundedRange, Pure
        >>> counted(BoundedRange(0.5), Pure(3))
        Pure(epsilon=0.5)
        >>> counted(Pure(1), Concentrated(2))
        Concentrated(rho=0.462117)
    """
    kind = type(budget)
    if isinstance(budget, BoundedRange):
        raise _no_budget(budget)
    if isinstance(budget, Approx) and isinstance(
        price, Concentrated | TruncatedConcentrated | ApproxConcentrated
    ):
        raise Unsupported(
            "ledger",
            "an approximate budget that adds epsilons and deltas does not count concentrated prices",
            got={"price": price, "budget": budget},
            why="Concentrated prices are cheap because they are added before they are converted.",
            hint="open the ledger with counting='concentrated', or ask for a pure or approximate price",
        )
    if isinstance(budget, Geo) != isinstance(price, Geo):
        raise Unsupported(
            "ledger",
            "a budget per distance and a budget per person do not count each other's prices",
            got={"price": price, "budget": budget},
            hint="keep one ledger for each",
        )
    extra = {"omega": budget.omega} if isinstance(budget, TruncatedConcentrated) else {}
    try:
        cost = price.to(kind, **extra)
    except Unsupported as problem:
        raise Unsupported(
            "ledger",
            "the price cannot be counted in the terms of the budget",
            got={"price": price, "budget": budget},
            why="No theorem turns this promise into that one.",
            hint=f"ask for {_askable(budget)}",
        ) from problem
    if isinstance(budget, Geo):
        assert isinstance(cost, Geo)
        cost = Geo(cost.rate * budget.per, budget.per)
    return _rounded(cost)


def person_price(price: Guarantee, asked: Neighbors, kept: Neighbors) -> Guarantee:
    """Turn a promise under the relation of a question into one under the relation of the ledger.

    A replacement is a removal and an addition, so an add/remove price counts for two people in a replace-one ledger.
    """
    if asked is kept:
        return price
    if asked is Neighbors.ADD_REMOVE_ONE and kept is Neighbors.REPLACE_ONE:
        return price.for_group(2)
    raise Unsupported(
        "ledger",
        "the question protects against other neighbours than the ledger",
        got={"asked": asked.value, "ledger": kept.value},
        why="Prices about different neighbours do not add up.",
        hint=f"open the data with neighbors=sd.{kept}, or keep another ledger",
    )


def nothing(budget: Guarantee) -> Guarantee:
    """The amount spent before anything was spent."""
    return type(budget)(
        **{f.name: Fraction(0) if f.name in ADDED else getattr(budget, f.name) for f in fields(budget)}
    )


def left(budget: Guarantee, spent: Guarantee) -> Guarantee:
    """What remains of a budget, exactly.

    Example:
        >>> from sordino.privacy import Pure
        >>> left(Pure(3), Pure(0.1).times(10))
        Pure(epsilon=2)
    """
    amounts = {
        f.name: max(Fraction(0), getattr(budget, f.name) - getattr(spent, f.name))
        if f.name in ADDED
        else getattr(budget, f.name)
        for f in fields(budget)
    }
    return type(budget)(**amounts)


def largest_rho(target: Approx) -> Concentrated:
    """The largest concentrated budget, rounded down, whose whole total is within an approximate promise.

    Example:
        >>> total = largest_rho(Approx(3, 1e-6))
        >>> total.within(Approx(3, 1e-6))
        True
    """
    if target.delta == 0:
        raise ParameterError(
            "ledger",
            "counting='concentrated' needs a delta",
            got={"budget": target},
            hint="Approx(3, 1e-6), or a Pure budget",
        )
    low, high = Fraction(0), Fraction(1)
    while Concentrated(high).within(target):
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if Concentrated(middle).within(target) else (low, middle)
    # 12 significant decimals, downwards: a budget that a person can read.
    if low == 0:
        raise ParameterError(
            "ledger", "the budget is too small to count in concentrated terms", got={"budget": target}
        )
    scale = Fraction(10) ** (11 - math.floor(math.log10(low)))
    return Concentrated(Fraction(math.floor(low * scale)) / scale)


def check_budget(budget: Guarantee) -> None:
    """Refuse a ceiling that can pay for nothing or cannot be read back."""
    if not isinstance(budget, Guarantee):
        raise ParameterError(
            "ledger", "budget must be a guarantee", got={"budget": budget}, hint="budget=sd.Pure(3)"
        )
    if isinstance(budget, BoundedRange):
        raise _no_budget(budget)
    main = getattr(budget, "epsilon", None) or getattr(budget, "rho", None)
    if not main:
        raise ParameterError(
            "ledger", "the budget must be positive", got={"budget": budget}, hint="budget=sd.Pure(3)"
        )


def _no_budget(budget: BoundedRange) -> Unsupported:
    """Ranges of questions that follow one another do not add up: docs/proofs/guarantees.md."""
    return Unsupported(
        "ledger",
        "a bounded range cannot be a budget",
        got={"budget": budget},
        why="It prices a single draw; ranges of questions that follow one another do not add up.",
        hint=f"budget=sd.Pure({spell(budget.epsilon)}), which counts bounded ranges as pure",
    )


def short(name: str, asked: Guarantee, left: Guarantee, budget: Guarantee) -> BudgetExceeded:
    """The ledger has not enough left."""
    ceiling = budget + asked
    options = " ".join(f"--{f.name} {spell(getattr(ceiling, f.name))}" for f in fields(ceiling))
    return BudgetExceeded(
        f"ledger {name}",
        "there is not enough left",
        got={"asked": asked, "left": left, "of": budget},
        why="Nothing was read and nothing was spent.",
        hint=f"ask for less, or: sordino ledger raise {pasted(name)} {options} --reason 'why'",
    )


def _rounded(price: G) -> G:
    """Round every amount that adds up to the next multiple of 1/GRAIN."""
    amounts = {
        f.name: Fraction(math.ceil(getattr(price, f.name) * GRAIN), GRAIN)
        if f.name in ADDED
        else getattr(price, f.name)
        for f in fields(price)
    }
    return type(price)(**amounts)


def _askable(budget: Guarantee) -> str:
    """Prices that a budget counts, in words."""
    return {
        "pure": "a pure price, e.g. Pure(0.5)",
        "concentrated": "a concentrated, bounded range or pure price, e.g. Concentrated(0.1)",
        "truncated-concentrated": "a concentrated or pure price with an omega at least as large",
        "approximate-concentrated": "a concentrated or pure price, or ApproxConcentrated(0.1, 1e-7)",
        "approx": "a pure or approximate price, e.g. Approx(0.5, 1e-7)",
    }.get(budget.kind, f"a price of kind {budget.kind}")


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
                got={"asked": cost, "left": left(self.ceiling, before), "of": self.ceiling},
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
