"""The page and the service: one code base over the library's own functions; nothing is computed here that they do not.

`application` makes the app of one person (`sordino app`) or of an organisation (`sordino serve`). Needs the extra
``web``. What protects it is in `locks`, what it remembers in `desk`, where data and ledgers are in `office`.
"""

from __future__ import annotations

__all__ = ["application"]

from sordino.web.application import application
