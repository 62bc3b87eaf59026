"""Where the reference vectors and the election tables are, when they are there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.places import SHARED

HERE = Path(__file__).parent


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
