"""The ledger of what has been spent: debited before data are read, append-only, chained by hash.

`Ledger` is the contract; `sqlite` and `postgres` store the rows, `account` counts, `chain` seals, `replay` verifies.
"""

from sordino.ledger.entry import Change, Entry, Report
from sordino.ledger.ledger import Ledger
from sordino.ledger.replay import verify_export

__all__ = ["Change", "Entry", "Ledger", "Report", "verify_export"]
