"""The book of what has been spent: debited before data are read, append-only, chained by hash.

`Ledger` is the contract; `sqlite` and `postgres` store the rows, `account` counts, `chain` seals and verifies.
"""

from sordino.ledger.book import Entry, Ledger, Report

__all__ = ["Entry", "Ledger", "Report"]
