"""Tests of this folder share planner_releases.py: real answers on fresh tables, held against a plan."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
