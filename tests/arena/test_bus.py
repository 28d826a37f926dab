"""A node's mailbox over a real Valkey: how it notices that nothing comes any more."""

from __future__ import annotations

import pytest
import redis
from cluster import wait_for

from battlebot.arena import bus
from battlebot.arena.bus import Mailbox


def test_a_mailbox_to_which_nothing_comes_connects_anew(client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its node posts itself a letter each second: a connection without any is dead, though nobody has said so."""
    monkeypatch.setattr(bus, "WAIT_S", 0.1)
    letters: list[bytes] = []
    gaps: list[None] = []
    Mailbox(client, "mailbox", letters.append, lambda: gaps.append(None)).start()
    before = {one["id"] for one in client.client_list(_type="pubsub")}
    wait_for(lambda: bool(gaps), "the gap")
    after = {one["id"] for one in client.client_list(_type="pubsub")}
    assert before.isdisjoint(after)
    wait_for(lambda: client.publish("mailbox", b"letter") == 1 and bool(letters), "a letter")


def test_a_mailbox_that_is_spoken_to_keeps_its_connection(client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """However little it is told."""
    monkeypatch.setattr(bus, "WAIT_S", 0.5)
    letters: list[bytes] = []
    gaps: list[None] = []
    Mailbox(client, "letters", letters.append, lambda: gaps.append(None)).start()
    wait_for(lambda: client.publish("letters", b"letter") == 1 and len(letters) > 40, "letters over two seconds")
    assert gaps == []
