"""How long a store's answer is remembered, and who asks again."""

from __future__ import annotations

import pytest
from cluster import wait_for
from structlog.testing import capture_logs

from battlebot.errors import Unavailable
from battlebot.runtime.answering import Answering

LONG_S = 600.0


class Store:
    """Counts how often it is asked; `trouble` is raised instead of an answer."""

    def __init__(self) -> None:
        self.asked = 0
        self.trouble: Exception | None = None

    def __call__(self) -> None:
        self.asked += 1
        if self.trouble is not None:
            raise self.trouble


@pytest.fixture
def store() -> Store:
    """It answers."""
    return Store()


def test_whether_a_store_answers_is_known_once_the_thread_is_started(store: Store) -> None:
    """Nobody has to wait for the second look; before the first, no answer is known."""
    answering = Answering(store)
    assert answering.ago_s() >= LONG_S
    answering.start(LONG_S)
    assert answering.ago_s() < LONG_S
    assert answering.ago_s() >= 0.0


@pytest.mark.parametrize("trouble", [Unavailable("It is away."), RuntimeError("nobody expected this")])
def test_an_answer_holds_for_a_while_and_the_thread_goes_on_asking(store: Store, trouble: Exception) -> None:
    """Whatever is wrong."""
    answering = Answering(store)
    store.trouble = trouble
    answering.start(0.01)
    assert answering.ago_s() >= LONG_S
    store.trouble = None
    wait_for(lambda: answering.ago_s() < 0.2, "an answer")
    store.trouble = trouble
    wait_for(lambda: answering.ago_s() >= 0.2, "the answer to be forgotten")
    store.trouble = None
    wait_for(lambda: answering.ago_s() < 0.2, "another answer")


def test_only_what_nobody_expected_is_logged(store: Store) -> None:
    """Who needs the store tells of one that is away."""
    answering = Answering(store)
    for trouble, told in ((Unavailable("It is away."), []), (RuntimeError(), ["answering.failed"])):
        store.trouble = trouble
        with capture_logs() as logs:
            answering.look(0.0)
        assert [row["event"] for row in logs] == told


def test_a_store_is_asked_only_if_its_last_answer_is_not_fresh(store: Store) -> None:
    """No answer is remembered of a store that gave none."""
    answering = Answering(store)
    answering.require(LONG_S)
    answering.require(LONG_S)
    assert store.asked == 1
    answering.require(0.0)
    assert store.asked == 2
    store.trouble = Unavailable("It is away.")
    answering.require(LONG_S)
    for _ in range(2):
        with pytest.raises(Unavailable):
            answering.require(0.0)
    assert store.asked == 4


def test_many_who_look_at_once_ask_once(store: Store) -> None:
    """Also a store that does not answer: nobody waits for another's vain attempt and then makes one of its own."""
    answering = Answering(store)
    assert answering.ago_s() == float("inf")
    for trouble, asked in ((None, 1), (Unavailable("It is away."), 2)):
        store.trouble = trouble
        answering.look(0.0)
        answering.look(LONG_S)
        assert store.asked == asked
    assert 0.0 <= answering.ago_s() < LONG_S
