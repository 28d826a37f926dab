"""Whose fault the end of a match was, for every way in which bots end one: the verdict, its evidence, its sentence."""

from __future__ import annotations

import html
import re
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from cluster import LIMIT_S, Web, wait_for
from peer import Peer
from switchboard import Switchboard

SETTINGS = {
    "turn_timeout_ms": 3000,
    # far longer than a turn may take: no test waits for it
    "send_timeout_s": 60.0,
    "close_timeout_s": 30.0,
    "outbox_messages": 10_000,
    "max_messages_per_s": 20.0,
}
PAD = "x" * 8000


def silent(mover: Peer, other: Peer) -> None:
    """Does nothing."""


def illegal(mover: Peer, other: Peer) -> None:
    """Three invalid turns."""
    for _ in range(3):
        mover.send({"n": "x"})


def goodbye(mover: Peer, other: Peer) -> None:
    """A close frame."""
    mover.close()


def reset(mover: Peer, other: Peer) -> None:
    """What a killed process and a broken network look like."""
    mover.reset()


def not_websocket(mover: Peer, other: Peer) -> None:
    """Garbage on the wire."""
    mover.raw(b"\x81\x02{}")


def flood(mover: Peer, other: Peer) -> None:
    """More than may be sent."""
    with suppress(OSError):
        mover.raw(b"".join([b"\x89\x80\x00\x00\x00\x00"] * 1000))


def complete(mover: Peer, other: Peer) -> None:
    """A turn that wins."""
    mover.send({"n": 10 if mover.bot == mover.first["state"]["players"][0] else -10})


ENDS: dict[str, tuple[Callable[[Peer, Peer], None], str, str, dict[str, Any], str]] = {
    "complete": (complete, "complete", "none", {"turns": 1}, "by the rules of the game."),
    "silent": (silent, "timeout", "bot", {"version": 0, "limitMs": 3000, "leftMs": 3000}, "had 3,000 ms left for"),
    "illegal": (illegal, "invalid", "bot", {"strikes": 3, "code": "invalid-turn"}, "sent 3 invalid turns"),
    "goodbye": (goodbye, "disconnect", "bot", {"how": "goodbye"}, "(it said goodbye)."),
    "reset": (reset, "disconnect", "network", {"how": "broken"}, "(its connection broke without a goodbye)."),
    "not WebSocket": (not_websocket, "disconnect", "bot", {"how": "protocol-error"}, "what is not WebSocket)."),
    "flood": (flood, "disconnect", "bot", {"how": "rate"}, "(it was closed for too many messages)."),
}


def record(web: Web, match_id: str, game: str = "numberwang") -> dict[str, Any]:
    """The match as it was stored."""
    path = f"/games/{game}/{match_id}"
    wait_for(lambda: web.request(path)[0] == 200, "the archive")
    return dict(web.request(path)[1])


@pytest.mark.parametrize("end", ENDS)
def test_every_end_has_a_fault_with_its_evidence(workers: Web, meet: Switchboard, end: str) -> None:
    """In the record, and in a sentence of it; the final update tells the fault too."""
    act, reason, fault, evidence, sentence = ENDS[end]
    mover, other = meet.sit()
    act(mover, other)
    final = other.final()
    assert (final["state"]["reason"], final["match"]["fault"]) == (reason, fault)
    assert final["state"]["victor"] == (mover.bot if end == "complete" else other.bot)
    found = record(workers, mover.first["match"]["id"])["match"]
    assert (found["fault"], found["void"]) == (fault, False)
    proof = found["evidence"]
    if "how" in evidence:
        evidence = {"how": {mover.bot: evidence["how"]}, "absent": [mover.bot], "emptiedBy": {mover.bot: fault}}
        # what the server took to learn of it comes on top (tests/referee/test_leaving.py); a node's grace is 15 s
        assert 0 < proof["allowedMs"][mover.bot] < 2 * SETTINGS["turn_timeout_ms"]
        assert proof["awayMs"][mover.bot] >= proof["allowedMs"][mover.bot]
    assert proof.items() >= evidence.items()
    assert sentence in found["sentence"]


def test_who_never_reads_loses_by_its_own_clock(workers: Web, meet: Switchboard) -> None:
    """Its updates fill all buffers: its opponent does not wait until the server gives the writing up."""
    stuck = meet.login(meet.auth(stem="stuck"), receive_buffer=2048)
    reader = meet.login(meet.auth(stem="reader"))
    meet.seated(stuck, reader)
    update = reader.first
    # it plays without reading until no buffer takes any more, and its opponent is waited for
    for _ in range(400):
        if update["state"]["complete"]:
            break
        mover = reader if update["state"]["nextPlayer"] == reader.bot else stuck
        if mover is stuck and update["match"]["version"] > 380:
            break
        mover.send({"n": 0, "pad": PAD})
        update = reader.update()
    final = update if update["state"]["complete"] else reader.final()
    assert (final["state"]["victor"], final["state"]["reason"]) == (reader.bot, "timeout")
    found = record(workers, final["match"]["id"])["match"]
    assert found["fault"] == "bot"
    assert found["evidence"]["unread"] is True
    assert f"{stuck.bot} took" in found["sentence"]
    assert "without reading what it was sent" in found["sentence"]


def test_the_page_says_of_a_fault_what_the_json_says(workers: Web, meet: Switchboard) -> None:
    """One sentence for both, and the organiser finds the match by its fault."""
    mover, other = meet.sit()
    mover.send({"n": 0})
    mover.update()
    other.update()
    other.reset()
    mover.send({"n": 0})
    match_id = mover.final()["match"]["id"]
    sentence = record(workers, match_id)["match"]["sentence"]
    assert workers.request("/games/numberwang?fault=network")[1][0]["_id"] == match_id
    with urllib.request.urlopen(f"{workers.url}/web/numberwang/matches/{match_id}", timeout=LIMIT_S) as page:
        words = re.sub("</?bdi>", "", page.read().decode())  # names stand in these
        assert html.escape(sentence) in words.replace("&#39;", "&#x27;")
