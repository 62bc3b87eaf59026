"""`Declared`: what a ledger keeps of a dataset and holds every spend about it to.

A ledger that declares datasets belongs to an organisation: it pays for no others, and its ceiling is raised by two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sordino.errors import LedgerError, NotApproved, ParameterError
from sordino.privacy import Guarantee

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Declared:
    """The rules of one dataset.

    Attributes:
        name: What it is called in public; events name it so.
        statistics: Catalogue names that may be asked; all where there are none.
        cost_max: The most that one question may cost, in the terms of the budget.
        approved: Whether somebody else must approve a question.
        approved_above: Only questions that cost more than this.
        schema: Fingerprint of the names and kinds of its columns; another schema is refused.
    """

    name: str
    statistics: tuple[str, ...] = ()
    cost_max: Guarantee | None = None
    approved: bool = False
    approved_above: Guarantee | None = None
    schema: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """A plain record."""
        return {
            "name": self.name,
            "statistics": list(self.statistics),
            "cost_max": None if self.cost_max is None else self.cost_max.to_dict(),
            "approved": self.approved,
            "approved_above": None if self.approved_above is None else self.approved_above.to_dict(),
            "schema": self.schema,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Declared:
        """Read what `to_dict` wrote."""

        def amount(name: str) -> Guarantee | None:
            return None if record[name] is None else Guarantee.from_dict(record[name])

        return cls(
            name=record["name"],
            statistics=tuple(record["statistics"]),
            cost_max=amount("cost_max"),
            approved=record["approved"],
            approved_above=amount("approved_above"),
            schema=record["schema"],
        )

    def broken(self, event: Mapping[str, Any], cost: Guarantee, told: Mapping[str, Any]) -> str:
        """Which rule a spend would break, in words; nothing when it keeps them all."""
        asked = {str(part.get("kind")) for part in _parts(event["statistic"])}
        if self.statistics and (other := sorted(asked - set(self.statistics))):
            return f"{', '.join(other)} may not be asked of {self.name}"
        if self.schema is not None and (event.get("data") or {}).get("schema") != self.schema:
            return f"the columns of {self.name} are not those that were declared"
        if self.cost_max is not None and not cost.within(self.cost_max):
            return f"a question about {self.name} may cost at most {self.cost_max!r}"
        approver = told.get("approved_by")
        if approver is not None and approver == told.get("user"):
            return "nobody approves a question of their own"
        if approver is None and self.needs_approval(cost):
            return f"this question about {self.name} must be approved"
        return ""

    def needs_approval(self, cost: Guarantee) -> bool:
        """Whether somebody must approve a question of such a cost."""
        return self.approved and (self.approved_above is None or not cost.within(self.approved_above))


def refused(name: str, broken: str, cost: Guarantee) -> Exception:
    """The error of a spend that breaks a rule of its dataset."""
    why = "Nothing was read and nothing was spent."
    if broken.endswith("must be approved"):
        return NotApproved(
            f"ledger {name}",
            broken,
            got={"costs": cost},
            why=why,
            hint="ask for approval: somebody else decides",
        )
    if "may cost at most" in broken:
        return ParameterError(
            f"ledger {name}", broken, got={"costs": cost}, why=why, hint="ask for a lower price"
        )
    if "may not be asked" in broken:
        return ParameterError(f"ledger {name}", broken, why=why, hint="ask one of those that are allowed")
    return LedgerError(f"ledger {name}", broken, why=why, hint=f"sordino ledger show {name}")


def _parts(statistic: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(statistic["parts"]) if statistic.get("kind") == "batch" else [statistic]
