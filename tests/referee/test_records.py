"""What a match keeps of one bot's turns has a bound; who fills it loses by strikes, never by a draw."""

from __future__ import annotations

import pytest
from matches import Play

PAD = "x" * 100
SIZE = len('{"n":0,"pad":""}') + len(PAD)


def pads(play: Play, times: int) -> None:
    """`a` pads its turns, so many of them; `b` answers without."""
    for _ in range(times):
        play.turn("a", n=0, pad=PAD)
        assert play.messages()[0][1]["turn"]["valid"] is True
        play.turn("b", n=0)


def test_turns_count_as_long_as_they_fit_together() -> None:
    """To the last byte; the server's own keys cost a bot nothing."""
    play = Play(max_record_bytes=3 * SIZE)
    pads(play, 3)
    assert play.seat("a").recorded_bytes == 3 * SIZE
    assert play.seat("b").recorded_bytes == 3 * len('{"n":0}')


def test_who_fills_its_record_loses_by_strikes() -> None:
    """What one bot sends leaves the other's room as it is."""
    play = Play(max_record_bytes=3 * SIZE)
    pads(play, 3)
    for strike in range(1, 4):
        play.turn("a", n=0)
        told = play.last.updates[0]
        assert (told.bot, told.code, told.strikes) == ("a", "too-much", strike)
    assert play.verdict() == ("b", "invalid", "bot")
    assert len(play.recorded) == 6


@pytest.mark.parametrize("pad", ["é" * 10, "\\" * 10, "\n" * 10], ids=["accents", "backslashes", "line ends"])
def test_bytes_are_counted_as_they_are_kept(pad: str) -> None:
    """In UTF-8, and escaped."""
    play = Play()
    play.turn("a", pad=pad, n=0)
    assert play.seat("a").recorded_bytes == len('{"pad":"","n":0}') + 20


def test_what_does_not_count_is_not_counted() -> None:
    """Invalid turns are not kept, nor is a turn that is sent again."""
    play = Play()
    play.turn("a", n="x", pad=PAD)
    play.turn("a", n=1, version=0)
    kept = play.seat("a").recorded_bytes
    assert kept == len('{"n":1,"version":0}')
    play.turn("a", n=1, version=0)
    assert play.seat("a").recorded_bytes == kept
