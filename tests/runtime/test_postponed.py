"""Work in the background: in order where it is about the same things, and otherwise not waiting."""

from __future__ import annotations

import threading
from functools import partial

import pytest
from cluster import LIMIT_S, wait_for

from battlebot.runtime.postponed import Postponed


class Work:
    """What has been done; the first of it, about `a` and `b`, not before it is let."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.postponed = Postponed()
        self._let = threading.Event()
        self.postponed.add(self._first, "a", "b")

    def adds(self, name: str, *things: str) -> None:
        """More work."""
        self.postponed.add(partial(self.done.append, name), *things)

    def let_first(self) -> None:
        """The first may be done now."""
        self._let.set()

    def _first(self) -> None:
        self._let.wait(LIMIT_S)
        self.done.append("first")


@pytest.fixture
def work() -> Work:
    """Some."""
    return Work()


def test_what_is_about_the_same_is_done_in_order(work: Work) -> None:
    """By one thing or another; what is about other things does not wait."""
    work.adds("second", "b", "c")
    work.adds("third", "c")
    work.adds("of itself", "d")
    wait_for(lambda: work.done == ["of itself"], "what does not wait")
    work.let_first()
    wait_for(lambda: len(work.done) == 4, "the others")
    assert work.done == ["of itself", "first", "second", "third"]


def test_what_comes_after_all_is_waited_for_by_nothing(work: Work) -> None:
    """It waits for all that was there."""
    work.postponed.add_after_all(partial(work.done.append, "after all"))
    work.adds("of itself", "d")
    wait_for(lambda: work.done == ["of itself"], "what does not wait")
    work.let_first()
    wait_for(lambda: work.done == ["of itself", "first", "after all"], "the last")


def test_things_are_held_up_until_the_work_about_them_is_done(work: Work) -> None:
    """Then nothing is kept of them."""
    work.adds("second", "b", "c")
    held_up = {thing for thing in "abcd" if work.postponed.holds_up(thing, "e")}
    assert held_up == {"a", "b", "c"}
    work.let_first()
    wait_for(lambda: not work.postponed.holds_up("a", "b", "c"), "the end")
    assert work.done == ["first", "second"]


def test_work_that_fails_holds_nothing_up(work: Work) -> None:
    """It is logged, as all work in the background."""

    def fails() -> None:
        raise RuntimeError

    work.postponed.add(fails, "a")
    work.adds("after it", "a")
    work.let_first()
    wait_for(lambda: work.done == ["first", "after it"], "what was to wait for it")
