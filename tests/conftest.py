"""What all tests share: how hypothesis runs, one PostgreSQL server per process, asserts of helpers explained."""

import gc
import hashlib
import itertools
import os
from collections import defaultdict

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("tests.support")

from tests.support.servers import postgres_server, spark_session  # noqa: E402, F401 -- fixtures

settings.register_profile("dev", max_examples=25, deadline=None, derandomize=True)
settings.register_profile("deep", max_examples=2000, deadline=None)
settings.register_profile(
    "ci", max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture(autouse=True)
def _own_memory(tmp_path_factory, monkeypatch):
    """What a client remembers of ledgers goes into a folder of the test run, not into the user's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / "state"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """`sampled(k)`: k of a law's cases, spread by chance but always the same, in every run; the others are slow.

    `pairwise`: those that show two values of two parameters together for the first time.
    """
    laws, shown = defaultdict(list), defaultdict(set)
    for item in items:
        if item.get_closest_marker("pairwise") is not None:
            pairs = set(itertools.combinations(enumerate(item.callspec.id.split("-")), 2))
            known = shown[item.nodeid.partition("[")[0]]
            if pairs <= known:
                item.add_marker(pytest.mark.slow)
            known |= pairs
        if (mark := item.get_closest_marker("sampled")) is not None:
            laws[item.nodeid.partition("[")[0], mark.args[0]].append(item)
    for (_, kept), cases in laws.items():
        for item in sorted(cases, key=lambda case: hashlib.sha256(case.nodeid.encode()).digest())[kept:]:
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish():
    """Thousands of tests and all modules stay to the end: no later collection of garbage looks at them again."""
    gc.collect()
    gc.freeze()
