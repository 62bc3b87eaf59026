"""A session: data, mechanism and ledger meet only here. `open` begins one, `Session.release` is the one door."""

from sordino.session.door import Session
from sordino.session.opening import open  # noqa: A004

__all__ = ["Session", "open"]
