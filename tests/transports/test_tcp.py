"""What a node with the TCP door does every second, over a real Valkey; its players only stand there."""

from __future__ import annotations

import time
from typing import Any

import redis

from battlebot.arena.names.presence import Holder, Presence
from battlebot.arena.node.player import Player
from battlebot.config import Settings
from battlebot.errors import Unavailable
from battlebot.runtime.lag import Lag
from battlebot.transports.limits import Rate
from battlebot.transports.tcp import NOTE_ONLINE_S, TcpDoor
from battlebot.transports.tcp_guest import Guest
from battlebot.wire.login import Login

NOWHERE: Any = None


def test_who_is_online_is_noted_by_one_write_for_all(client: redis.Redis, settings: Settings) -> None:
    """A MongoDB that hangs is waited for once, not once for each player; the next note comes half a minute later."""
    noted: list[Any] = []

    def hangs(*arguments: Any) -> None:
        noted.append(arguments)
        raise Unavailable("MongoDB does not answer now.")

    door = TcpDoor(settings, NOWHERE, Presence(client), NOWHERE, NOWHERE, Lag(), hangs)
    since_ms = int(time.time() * 1000) - 60_000
    for name in ("ada", "bob", "cat"):
        guest = Guest(NOWHERE, Holder(name, f"n1.tcp/{name}", since_ms, True), Rate(1.0))
        door._guests[Player(Login("gomoku", name, ""), guest, name, Lag(), lambda player: None)] = guest
    door.tick()
    assert noted == [], "not half a minute has passed since the node began"
    door._noted_s -= NOTE_ONLINE_S
    door.tick()
    door.tick()
    [[stays]] = noted
    assert [(name, since) for name, since, _ in stays] == [(name, since_ms) for name in ("ada", "bob", "cat")]
    assert all(60.0 <= seconds < 90.0 for _, _, seconds in stays)
