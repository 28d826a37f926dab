"""What is said of the parts that a node depends on: which are well, what is wrong, and since when."""

from __future__ import annotations

import threading
import time

import pytest
from structlog.testing import capture_logs

from battlebot.errors import Unavailable
from battlebot.runtime import readiness
from battlebot.runtime.readiness import Readiness


class Part:
    """Counts how often it is asked; `trouble` is raised instead of an answer."""

    def __init__(self, trouble: Exception | None = None) -> None:
        self.asked = 0
        self.trouble = trouble

    def __call__(self) -> None:
        self.asked += 1
        if self.trouble is not None:
            raise self.trouble


def test_each_part_is_well_or_says_what_is_wrong() -> None:
    """Unavailable in its own words; another error by its name alone, as its text may hold a password."""
    parts = {"good": Part(), "away": Part(Unavailable("It is away.")), "odd": Part(ValueError("secret"))}
    ready = Readiness(parts)
    assert ready.away() == {}
    assert ready() == {"good": "ok", "away": "It is away.", "odd": "does not answer (ValueError)"}
    assert ready.away().keys() == {"away", "odd"}


def test_a_slow_part_is_waited_for() -> None:
    """And the next one is asked meanwhile."""
    both = threading.Barrier(2)

    def slow() -> None:
        for _ in range(200):
            both.wait(10)

    assert Readiness({"one": slow, "other": slow})() == {"one": "ok", "other": "ok"}


def test_a_part_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """All are asked at once; one that has not answered by then is not well."""
    monkeypatch.setattr(readiness, "ANSWER_WITHIN_S", 0.01)
    never = threading.Event()
    ready = Readiness({"one": never.wait, "other": never.wait})
    assert ready() == dict.fromkeys(("one", "other"), "does not answer in time")
    never.set()


def test_an_answer_is_used_again_while_it_is_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many ask; what they do with it changes nothing for others."""
    part = Part()
    ready = Readiness({"part": part})
    monkeypatch.setattr(readiness, "FRESH_S", 600.0)
    ready().clear()
    part.trouble = Unavailable("It is away.")
    assert (ready(), part.asked) == ({"part": "ok"}, 1)
    monkeypatch.setattr(readiness, "FRESH_S", -1.0)
    assert (ready(), part.asked) == ({"part": "It is away."}, 2)


def test_since_when_a_part_is_away_is_remembered_and_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However its words change, until it is back."""
    monkeypatch.setattr(readiness, "FRESH_S", -1.0)
    part = Part()
    ready, before_s, since_s = Readiness({"part": part}), time.time(), set()
    with capture_logs() as logs:
        for trouble in (None, Unavailable("It is away."), ValueError(), None, None):
            part.trouble = trouble
            ready()
            assert ("part" in ready.away()) == (trouble is not None)
            since_s.update(ready.away().values())
    [one_s] = since_s
    assert before_s <= one_s <= time.time()
    assert [row["event"] for row in logs] == ["part.away", "part.back"]
    assert 0 <= logs[1]["after_s"] < 600


def test_a_part_that_still_starts_is_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first sweep is made a moment after the node is there; what never comes is told, if later."""
    monkeypatch.setattr(readiness, "FRESH_S", -1.0)
    late, never = Part(Unavailable("It is away.")), Part(Unavailable("It is away."))
    ready = Readiness({"late": late, "never": never})
    with capture_logs() as logs:
        ready()
        assert ready.away().keys() == {"late", "never"}
        late.trouble = None
        ready()
        assert ready.away().keys() == {"never"}
        assert logs == []
        monkeypatch.setattr(readiness, "STARTING_S", 0.0)
        ready()
    assert [(row["event"], row["part"]) for row in logs] == [("part.away", "never")]


def test_the_thread_looks_before_anybody_asks() -> None:
    """So that pages can say what is missing without waiting for it."""
    looked = threading.Event()
    Readiness({"part": looked.set}).start()
    assert looked.wait(10)
