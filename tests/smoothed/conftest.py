"""Where the reference vectors and the election tables are, when they are there."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # smoothed_brute.py is shared by the tests of this folder
SHARED = HERE.parents[2] / "shared"


@pytest.fixture(scope="session")
def vectors() -> list[dict]:
    path = SHARED / "reference" / "smoothed.json"
    if not path.is_file():
        path = HERE / "data" / "vectors.json"  # a subset that travels with the tests
    return json.loads(path.read_text())["items"]


@pytest.fixture(scope="session")
def elections_folder() -> Path:
    folder = SHARED / "data" / "elections"
    if not folder.is_dir():
        pytest.skip("the election tables are not on this machine")
    return folder


@pytest.fixture(scope="session")
def example_county() -> Path:
    """Thirteen precincts of an invented county, written by data/make_precincts.py."""
    return HERE / "data" / "example_county.csv"
