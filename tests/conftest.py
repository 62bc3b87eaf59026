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
    """Which of a law's many cases run when: always, in `make test-thorough` (as in CI), or in `make test-slow`.

    `sampled(k)`: k cases, spread by chance but always the same, are not slow. `pairwise`: those that show two values of
    two parameters together for the first time are not. Of what is not slow, `few(k)` lets k cases run always and
    `covering` those that show a value of a parameter for the first time; the others are thorough.
    """
    _later(items, "pairwise", "slow", 2)
    _chosen(items, "sampled", "slow")
    _later(items, "covering", "thorough", 1)
    _chosen(items, "few", "thorough")


def _cases(items, mark):
    """The cases of each law that has a mark, without those that run in another tier anyway."""
    laws = defaultdict(list)
    for item in items:
        tiers = {one.name for one in item.iter_markers()}
        if mark in tiers and not tiers & {"slow", "thorough"}:
            laws[item.nodeid.partition("[")[0]].append(item)
    return laws.values()


def _later(items, mark, tier, together):
    """Put off the cases in which no values meet for the first time."""
    for cases in _cases(items, mark):
        known = set()
        for item in cases:
            met = set(itertools.combinations(enumerate(item.callspec.id.split("-")), together))
            if met <= known:
                item.add_marker(tier)
            known |= met


def _chosen(items, mark, tier):
    """Put off all but a fixed number of cases."""
    for cases in _cases(items, mark):
        kept = cases[0].get_closest_marker(mark).args[0]
        for item in sorted(cases, key=lambda case: hashlib.sha256(case.nodeid.encode()).digest())[kept:]:
            item.add_marker(tier)


def pytest_collection_finish():
    """Thousands of tests and all modules stay to the end: no later collection of garbage looks at them again."""
    gc.collect()
    gc.freeze()
