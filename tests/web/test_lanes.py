"""The answer clock and the lanes: replies come at public times whatever the release took; one question is run once."""

import threading
import time

import pytest

from sordino.web.lanes import LaneJob, Lanes


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

    lanes.submit("a1", "a", 0.01, lambda: work("a1"))
    lanes.submit("a2", "a", 0.01, lambda: work("a2"))
    other = lanes.submit("b1", "b", 0.01, lambda: begun.append("b1"))
    other.future.result(5)
    assert "a2" not in begun
    assert lanes.busy("a")
    hold.set()
    lanes.job("a2").future.result(5)
    assert begun == ["a1", "b1", "a2"]


def test_an_error_is_handed_to_whoever_waits(lanes):
    def work():
        raise ValueError("x")

    job = lanes.submit("t", "d", 0.01, work)
    with pytest.raises(ValueError, match="x"):
        job.future.result(5)
