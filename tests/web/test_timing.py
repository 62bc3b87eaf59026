"""A thousand questions about two neighbouring datasets: reply times are not told apart, a planted delay stays inside.

The public time is long beside a release, and questions about both are asked in turn, so that a busy machine makes both
late alike.
"""

import os
import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from scipy.stats import ks_2samp

import sordino as sd
from sordino.ledger.entry import Debit
from sordino.session import Session
from sordino.web.lanes import Lanes

ASKS = int(os.environ.get("SORDINO_TIMING_ASKS", "1000"))
AFTER, DELAY, WIDTH = 0.4, 0.1, 4
MEDIAN = sd.Median("income", low=0, high=200_000)
SURE = 1e-6
"""Chance that times which do not differ are told apart all the same."""


def neighbours(rows=400):
    """Sessions on two tables that differ in one row: the one that makes all others look different."""
    made = random.Random(3)
    column = [made.lognormvariate(10.4, 0.5) for _ in range(rows)]
    tables = {"with": column, "without": [*column[:-1], 200_000.0]}
    return {name: sd.open({"income": table}, budget=sd.Pure(10**6)) for name, table in tables.items()}


def replies(people, delayed, asks):
    """For each dataset how long its answers took inside, and until they were handed out."""

    def together(tasks):
        (name,) = tasks
        if name == delayed:
            time.sleep(DELAY)
        question = people[name].question(MEDIAN, sd.Pure(0.5))
        return Session.release_each([(people[name], question, Debit(question.event))])

    lanes = Lanes(together)
    inside, seen = ({name: [] for name in people} for _ in range(2))

    def ask(number):
        name = list(people)[number % 2]
        begun = time.monotonic()
        job = lanes.submit(f"{name} {number}", f"lane {number % WIDTH}", AFTER, name)
        while not job.ready:
            time.sleep(job.next_tick() + 0.001)
        assert not isinstance(job.future.result(), Exception)
        seen[name].append(time.monotonic() - begun)
        inside[name].append(job.done - job.begun)

    with ThreadPoolExecutor(WIDTH) as pool:
        list(pool.map(ask, range(asks)))
    lanes.close()
    return inside, seen


@pytest.mark.slow
@pytest.mark.parametrize("delayed", [None, "without"])
def test_neighbouring_datasets_are_not_told_apart_by_the_time_of_their_answers(delayed):
    people = neighbours()
    for one in people.values():  # what is loaded once is no answer's
        one.release(MEDIAN, sd.Pure(0.5))
    inside, seen = replies(people, delayed, ASKS)
    assert ks_2samp(*seen.values()).pvalue > SURE
    if delayed:
        assert ks_2samp(*inside.values()).pvalue < SURE  # the test would have seen it
