"""The book of what has been spent: debited before data are read, append-only, chained by hash.

`Ledger` is the contract; `sqlite` and `postgres` store the rows, `account` counts, `chain` seals and verifies.
"""

from sordino.ledger.book import Ledger
from sordino.ledger.chain import verify_export
from sordino.ledger.entry import Entry, Report

__all__ = ["Entry", "Ledger", "Report", "verify_export"]
