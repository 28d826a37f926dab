"""Whose place a process takes."""

from __future__ import annotations

from battlebot.embedded.succession import REMEMBERED, Lineage, Succession


def test_a_process_knows_those_that_ended_before_it_was_started() -> None:
    """Not those that only were started before it, such as one that still stops; and only the latest."""
    lineage = Lineage()
    first, second = lineage.next(), lineage.next()
    assert (first.ended, second.ended) == ((), ())
    lineage.end(first)
    assert lineage.next().ended == (first.name,)
    later = [lineage.next() for _ in range(REMEMBERED)]
    assert len({one.name for one in [first, second, *later]}) == REMEMBERED + 2
    for one in later:
        lineage.end(one)
    assert lineage.next().ended == tuple(one.name for one in later)


def test_nobody_has_started_a_process_without_an_arbiter() -> None:
    """It then names itself."""
    lineage = Lineage()
    assert lineage.own is None
    lineage.own = Succession("n1")
    assert lineage.own.ended == ()
