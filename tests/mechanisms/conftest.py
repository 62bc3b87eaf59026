"""Tests of this folder share the brute-force worlds of mechanism_worlds.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
