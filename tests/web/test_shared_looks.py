"""Looks at one page, which its streams share."""

from __future__ import annotations

import threading
import time

import pytest
from cluster import LIMIT_S

from battlebot.api import streams
from battlebot.errors import Unavailable


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
