"""Stateless bots in the queues of a real Valkey: whoever waits there meets one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from battlebot.arena import keys
from battlebot.arena.connection import connect
from battlebot.arena.scripts import Scripts
from battlebot.arena.store import MatchStore
from battlebot.config import Settings
from battlebot.matchmaking.queue import BY_A_TASK, Queues, Ticket
from battlebot.rules.registry import discover
from battlebot.stateless.attendance import Attendance
from battlebot.stateless.health import Health
from battlebot.storage import Storage

GAME = "noughtsandcrosses"


@pytest.fixture
def attendance(settings: Settings) -> Iterator[Attendance]:
    """Of one bot, `url-bot`."""
    client, storage = connect(settings.redis_url), Storage(settings)
    storage.ensure_indexes()
    storage.bots.register(GAME, "url-bot", "owner", b"", url="http://127.0.0.1:9/", available=True)
    nobody: Any = None
    yield Attendance(
        registry=discover(),
        settings=settings,
        storage=storage,
        store=MatchStore(client),
        queues=Queues(client),
        health=Health(Scripts(client)),
        trial=nobody,
        ask_pairing=lambda game, contest: None,
        ask_bots=lambda match_id: None,
    )
    storage.close()
    client.close()


def test_who_waits_at_a_node_that_was_late_meets_it_once_the_node_beats_again(attendance: Attendance) -> None:
    """A ticket of the bot's put beside that of the other would stand there for ever: neither looks again."""
    client: Any = attendance.store.client
    attendance.queues.wait(GAME, Ticket("late/1.1", "ada", 1000.0), BY_A_TASK)
    client.zadd(keys.NODES, {"late": 1_000_000, "other": 1_009_000})
    attendance.look()
    assert attendance.store.live_ids() == []
    client.delete(keys.NODES)
    attendance.look()
    (match_id,) = attendance.store.live_ids()
    assert {seat.bot for seat in attendance.store.load(match_id).seats} == {"ada", "url-bot"}
