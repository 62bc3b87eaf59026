"""Where things are: the repository, its tests, and reference vectors that may lie beside the repository."""

import os
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
SHARED = Path(os.environ.get("SORDINO_SHARED", ROOT.parent / "shared"))
"""Larger sets of vectors and public tables. They do not travel with the repository; a subset of each does."""
