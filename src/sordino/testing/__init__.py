"""Laws that anyone can run: privacy by replay, the laws of statistics, noise and samplers, and audits from outside.

For authors of plug-ins and for the library's own tests. Everything here works on known or generated data; nothing of
it is part of a release.
"""

from __future__ import annotations

from sordino.testing.audit import Audit, audit
from sordino.testing.check import Verdict, check
from sordino.testing.replay import Replay, replay
from sordino.testing.survey import survey

__all__ = ["Audit", "Replay", "Verdict", "audit", "check", "replay", "survey"]
