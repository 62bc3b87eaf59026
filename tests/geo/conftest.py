"""Tests of this folder share the queries and points of geo_worlds.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
