"""Draws that can be repeated: each test and doctest has a fixed key, so a statistical test fails always or never.

`--fresh-keys` takes the operating system's keys instead, as releases do: then a test that fails once in ten thousand
runs may be met.
"""

import hashlib
import itertools
import os

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The way back to keys that nobody can repeat."""
    parser.addoption("--fresh-keys", action="store_true", help="draw with keys of the operating system")


@pytest.fixture(autouse=True)
def _keys_of_the_test(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys from the test's name; a forked child still takes the system's."""
    if request.config.getoption("--fresh-keys"):
        return
    from sordino.exact import bits

    system, here, numbers = bits.fresh_key, os.getpid(), itertools.count()

    def key() -> bytes:
        if os.getpid() != here:
            return system()
        return hashlib.sha256(f"{request.node.nodeid} {next(numbers)}".encode()).digest()

    monkeypatch.setattr(bits, "fresh_key", key)
