"""What a later version appends to the rows that it keeps in Redis: this one, which may be put back, leaves it out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest
import redis

from battlebot.arena.live.cutoff import CutOff
from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.troubles import failing
from battlebot.arena.live.turnedaway import Knock, TurnedAwayAnywhere
from battlebot.arena.names.copies import Copies
from battlebot.matchmaking.missing import Chance, Missing
from battlebot.redisio import keys
from battlebot.wire.login import Login

KNOCK = Knock(Login("gomoku", "ada", "", None), "192.0.2.1")
QUEUE = keys.queue_name("gomoku", "cup")


def cut_off(client: redis.Redis) -> CutOff:
    """Who was cut off."""
    return CutOff(client, Heartbeats(client))


# what it is of; how it is kept; how it is read
ROWS: dict[str, tuple[Callable[[redis.Redis], object], Callable[[redis.Redis], object]]] = {
    "a bot's registration": (
        lambda client: Copies(client).keep([{"_id": "ada", "game": "gomoku", "sealed_pass_hash": b"sealed"}]),
        lambda client: Copies(client).of(["ada"]),
    ),
    "who was turned away": (
        lambda client: TurnedAwayAnywhere(client).note(KNOCK, 1000.0, 1001.0),
        lambda client: TurnedAwayAnywhere(client).attempts(KNOCK, None),
    ),
    "who was cut off": (
        lambda client: cut_off(client).note("3f9c", {QUEUE: ["ada"]}, 1000.0),
        lambda client: cut_off(client).times(QUEUE, [], 1001.0, 15.0),
    ),
    "who is missing": (
        lambda client: Missing(client).note("gomoku", "cup", "run", {"ada": Chance(1000.0)}, 1000.0, 5.0),
        lambda client: Missing(client).noted("gomoku", "cup", "run"),
    ),
    "what cannot be gone on with": (
        lambda client: client.hset(keys.TROUBLES, "match", orjson.dumps([1000, 2000])),
        failing,
    ),
}


def longer(row: bytes) -> bytes:
    """The row as a later version may write it."""
    return orjson.dumps([*orjson.loads(row), {"what": "nobody knows yet"}])


def lengthen(client: redis.Redis, key: str) -> None:
    """Makes the rows at the key longer."""
    store: Any = client
    match store.type(key):
        case b"string":
            store.set(key, longer(store.get(key)))
        case b"hash":
            store.hset(key, mapping={name: longer(row) for name, row in store.hgetall(key).items()})
        case b"list":
            store.lset(key, 0, longer(store.lindex(key, 0)))


@pytest.mark.parametrize("what", ROWS)
def test_what_is_appended_is_left_out(client: redis.Redis, what: str) -> None:
    """Otherwise no bot could log in, or no sweep be made, after an upgrade was taken back."""
    keep, read = ROWS[what]
    keep(client)
    before = read(client)
    assert before
    kept: Any = client.keys()
    for key in kept:
        lengthen(client, key)
    assert read(client) == before
