"""The answer clock and the lanes: replies come at public times whatever the release took; one question is run once."""

import threading
import time

import pytest

from sordino.web.lanes import TOGETHER, WAITING, LaneJob, Lanes
from sordino.web.person import TooMany


@pytest.fixture
def lanes():
    made = Lanes()
    yield made
    made.close()


def test_an_answer_is_due_at_a_public_time_whatever_it_took():
    """Up to the public time: at that time exactly. Later: at twice, four times, ... of it."""
    for took in (0.0, 0.001, 0.1, 0.2499):
        assert LaneJob(begun=100.0, after=0.25, done=100.0 + took).due == 100.25
    assert LaneJob(begun=100.0, after=0.25, done=100.26).due == 100.5
    assert LaneJob(begun=100.0, after=0.25, done=101.7).due == 102.0


def test_a_planted_delay_shows_in_the_lane_and_not_in_the_reply(lanes):
    replies, inside = {}, {}
    for name, delay in (("quick", 0.0), ("slow", 0.1)):
        job = lanes.submit(name, name, 0.25, lambda delay=delay: time.sleep(delay))
        job.future.result(5)
        replies[name], inside[name] = job.due - job.begun, job.done - job.begun
        assert not job.ready
    assert inside["slow"] > inside["quick"] + 0.05  # the test would see it
    assert replies["slow"] == pytest.approx(replies["quick"], abs=1e-9)


def test_the_same_token_runs_once_while_it_is_on_its_way(lanes):
    ran, hold = [], threading.Event()

    def work():
        ran.append(1)
        hold.wait(5)

    jobs = {id(lanes.submit("t", "d", 0.01, work)) for _ in range(10)}
    hold.set()
    assert len(jobs) == 1
    lanes.job("t").future.result(5)
    assert ran == [1]


def test_questions_about_one_dataset_take_turns_and_others_do_not_wait(lanes):
    begun, hold = [], threading.Event()

    def work(name):
        begun.append(name)
        hold.wait(5)

    lanes.submit("a1", "a", 0.01, lambda: work("a1"), owner="ana")
    lanes.submit("a2", "a", 0.01, lambda: work("a2"))
    other = lanes.submit("b1", "b", 0.01, lambda: begun.append("b1"))
    other.future.result(5)
    assert "a2" not in begun
    assert lanes.busy("ana")
    assert not lanes.busy("ben")
    hold.set()
    lanes.job("a2").future.result(5)
    assert sorted(begun[:2]) == ["a1", "b1"]  # lanes begin in any order
    assert begun[2:] == ["a2"]


@pytest.fixture
def held():
    """Lanes whose first turn waits; what each turn was given is written down."""
    turns, hold = [], threading.Event()

    def together(tasks):
        turns.append(list(tasks))
        hold.wait(20)
        return [ValueError(task) if task == "wrong" else task for task in tasks]

    made = Lanes(together)
    made.turns, made.hold = turns, hold
    yield made
    hold.set()
    made.close()


def test_whoever_waits_goes_together_in_order_and_an_error_is_one_persons(held):
    jobs = [held.submit("first", "d", 0.01, "first")]
    while not held.turns:
        time.sleep(0.001)
    jobs += [held.submit(str(name), "d", 0.01, name) for name in ("a", "wrong", *range(TOGETHER))]
    held.hold.set()
    outcomes = [job.future.exception(20) or job.future.result() for job in jobs]
    assert [len(turn) for turn in held.turns] == [1, TOGETHER, 2]
    assert [job.begun for job in jobs] == sorted(job.begun for job in jobs)
    assert outcomes[1] == "a"
    assert isinstance(outcomes[2], ValueError)
    assert outcomes[3:] == list(range(TOGETHER))


def test_who_comes_when_too_many_wait_is_told_so_and_what_was_paid_is_taken_all_the_same(held):
    held.submit("first", "d", 0.01, "first")
    while not held.turns:
        time.sleep(0.001)
    for number in range(WAITING):
        held.submit(f"t{number}", "d", 0.01, number)
    with pytest.raises(TooMany, match="too many"):
        held.submit("late", "d", 0.01, "late")
    assert held.job("late") is None
    assert held.submit("t0", "d", 0.01, 0) is held.job("t0")  # on its way already
    held.submit("other", "e", 0.01, "another lane")
    held.submit("paid", "d", 0.01, "paid", must=True)
    held.hold.set()
    assert held.job("paid").future.result(20) == "paid"


def test_a_strict_lane_begins_the_next_turn_when_the_answer_may_be_handed_out():
    """Otherwise whoever waits next would see how long the turn before took."""
    begun = {True: [], False: []}
    for strict, times in begun.items():
        made = Lanes(strict=strict)
        first = made.submit("a", "d", 0.2, lambda times=times: times.append(time.monotonic()))
        first.future.result(20)
        second = made.submit("b", "d", 0.2, lambda times=times: times.append(time.monotonic()))
        second.future.result(20)
        assert (times[1] >= first.due) == strict or (not strict and times[1] - times[0] > 0.2)
        made.close()


def test_what_is_on_its_way_is_finished_before_lanes_are_closed():
    made, done = Lanes(strict=True), []
    for number in range(2 * TOGETHER):
        made.submit(str(number), "d", 0.001, lambda number=number: done.append(number))
    made.close()
    assert done == list(range(2 * TOGETHER))


def test_an_error_is_handed_to_whoever_waits(lanes):
    def work():
        raise ValueError("x")

    job = lanes.submit("t", "d", 0.01, work)
    with pytest.raises(ValueError, match="x"):
        job.future.result(5)
