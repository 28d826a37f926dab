"""Whose place a process takes."""

from __future__ import annotations

from battlebot.embedded.succession import REMEMBERED, Line, Succession


def test_a_process_knows_those_that_ended_before_it_was_started() -> None:
    """Not those that only were started before it, such as one that still stops; and only the latest."""
    line = Line()
    first, second = line.next(), line.next()
    assert (first.ended, second.ended) == ((), ())
    line.end(first)
    assert line.next().ended == (first.name,)
    later = [line.next() for _ in range(REMEMBERED)]
    assert len({one.name for one in [first, second, *later]}) == REMEMBERED + 2
    for one in later:
        line.end(one)
    assert line.next().ended == tuple(one.name for one in later)


def test_nobody_has_started_a_process_without_an_arbiter() -> None:
    """It then names itself."""
    line = Line()
    assert line.own is None
    line.own = Succession("n1")
    assert line.own.ended == ()
