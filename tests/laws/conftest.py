"""Tests of this folder share their worlds: statistic_worlds.py, noise_pairs.py, promise_pairs.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
