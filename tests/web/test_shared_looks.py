"""Looks at one page, which its streams share."""

from __future__ import annotations

import json
import threading
import time
from functools import partial
from itertools import cycle
from typing import Any

import pytest
from cluster import LIMIT_S
from webhouse import House

from battlebot.api import streams
from battlebot.api.unread import Unread
from battlebot.errors import Unavailable
from battlebot.runtime.cooperative import Line

EVENTS = "/web/noughtsandcrosses/contests/autumn/events"


def test_streams_of_a_page_share_its_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look that is recent enough serves all; another is made `FRESH_S` later, however often it is asked for."""
    monkeypatch.setattr(streams, "FRESH_S", 0.05)
    shared, looks = streams.Shared(9, 9), list[float]()

    def look() -> streams.Snapshot:
        looks.append(time.monotonic())
        return streams.Snapshot({"look": len(looks)})

    began_s = time.monotonic()
    for since_s, number in ((0.0, 1), (0.0, 1), (float("inf"), 2), (0.0, 2)):
        assert shared.look("/a", look, since_s).data == {"look": number}
    assert looks[1] - began_s >= 0.05


def test_streams_of_a_page_share_its_failures() -> None:
    """A database that is away keeps each of them waiting once, and not one after another."""
    shared, looks = streams.Shared(9, 9), list[int]()

    def fail() -> streams.Snapshot:
        looks.append(1)
        raise Unavailable("MongoDB does not answer now.")

    for _ in range(3):
        with pytest.raises(Unavailable):
            shared.look("/a", fail, 0.0)
    assert len(looks) == 1


def test_who_may_be_shown_what_was_seen_does_not_wait_for_the_next_look() -> None:
    """A viewer who opens a page is shown it at once, while the page is looked at for those who were there before."""
    shared, begun, over = streams.Shared(9, 9), threading.Event(), threading.Event()

    def slowly() -> streams.Snapshot:
        begun.set()
        over.wait(LIMIT_S)
        return streams.Snapshot({"look": 2})

    shared.look("/a", lambda: streams.Snapshot({"look": 1}), 0.0)
    looking = threading.Thread(target=shared.look, args=("/a", slowly, float("inf")))
    looking.start()
    assert begun.wait(LIMIT_S)
    shown = shared.look("/a", slowly, 0.0)
    over.set()
    looking.join()
    assert shown.data == {"look": 1}


def test_streams_share_an_event_and_send_it_in_pieces(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of viewers who do not read it must not each have the node keep a copy of megabytes."""
    monkeypatch.setattr(streams, "PIECE", 100)
    home.contest(bots=("a", "b"))
    answer = home.client.get(EVENTS, buffered=False)
    pieces = list[bytes]()
    for piece in answer.iter_encoded():
        pieces.append(piece)
        if piece.endswith(b"\n\n"):
            break
    answer.close()
    assert len(pieces) > 5
    assert max(map(len, pieces)) < 200
    head, _, data = b"".join(pieces).partition(b"data: ")
    assert head.startswith(b"retry: ")
    assert json.loads(data)["contest"]["name"] == "autumn"


def test_an_event_that_is_taken_slowly_counts_until_it_is_taken() -> None:
    """Not before: all viewers share one. On a slow line it takes its time, in which what is seen is kept as well."""
    kept, event = Unread(), (b"id: 1\n", b"x" * (3 * streams.PIECE))
    pieces = streams._in_pieces(iter([event, (b"id: 2\n", b"y")]), -1.0, partial(kept.counted, "a"))
    taken = next(pieces)
    assert kept._bytes["a"] == 0
    for _ in range(2):
        taken += next(pieces)
        assert kept._bytes["a"] == len(event[1])
    assert next(pieces) == b"id: 2\ny"
    assert kept._bytes["a"] == 0
    assert taken == b"".join(event)


def test_who_is_gone_while_an_event_is_taken_slowly_has_nothing_kept() -> None:
    """The stream is closed at a piece."""
    kept = Unread()
    pieces: Any = streams._in_pieces(iter([(b"", b"x" * (3 * streams.PIECE))]), -1.0, partial(kept.counted, "a"))
    assert [len(next(pieces)) for _ in range(2)] == [streams.PIECE] * 2
    pieces.close()
    assert kept._bytes["a"] == 0


def test_a_stream_ends_if_too_much_is_taken_slowly() -> None:
    """Hundreds of slow viewers would have the node keep as many events."""
    kept, event = Unread(most_of_one=streams.PIECE), (b"id: 1\n", b"x" * (2 * streams.PIECE))
    assert kept.take("a", 1)
    pieces = streams._in_pieces(iter([event]), -1.0, partial(kept.counted, "a"))
    assert next(pieces).startswith(b"id: 1\n")
    with pytest.raises(TimeoutError):
        next(pieces)


@pytest.mark.parametrize(("length", "rests"), [(1, 0), (streams.PIECE, 0), (streams.PIECE + 1, 2)])
def test_others_run_between_the_pieces_of_a_long_event(
    monkeypatch: pytest.MonkeyPatch, length: int, rests: int
) -> None:
    """Hundreds of streams tell of a change at one moment, and bots have their turns meanwhile."""
    rested = list[None]()

    class Counted(Line):
        def in_turn(self) -> None:
            rested.append(None)
            super().in_turn()

    monkeypatch.setattr(streams, "_lines", cycle([Counted()]))
    event = b"id: 1\n", b"x" * length
    assert b"".join(streams._in_pieces(iter([event]), LIMIT_S, partial(Unread().counted, "a"))) == b"".join(event)
    assert len(rested) == rests
