"""What becomes of a kept session after its match."""

from __future__ import annotations

from typing import Any

import gevent
from players import login_of, player_of

from battlebot.arena.node.player import Player
from battlebot.config import Settings
from battlebot.errors import Unavailable
from battlebot.runtime.lag import Lag
from battlebot.transports.pump import Pump

NOWHERE: Any = None


def test_a_kept_session_whose_match_ends_while_redis_falls_silent_waits_on() -> None:
    """It is let wait once, at one place, and is not closed: what is left to do is for the lobby's ticks."""
    entered: list[str] = []

    class Lobby:
        def enter(self, player: Player, may_take: bool = True) -> None:
            entered.append(player.bot)
            raise Unavailable("Redis does not answer now.")

    lobby: Any = Lobby()
    pump = Pump(Settings(), NOWHERE, lobby, NOWHERE, Lag())
    player = player_of(login_of("ada", protocol=2, keep=True), NOWHERE, released=pump._released)
    player.release()
    gevent.joinall(list(pump._stays._entering.values()), timeout=5.0, raise_error=True)
    assert entered == ["ada"]
