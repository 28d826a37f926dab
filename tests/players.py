"""Players as a door makes them, for tests that have no door."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from battlebot.arena.live.turnedaway import Knock, Proof
from battlebot.arena.node.player import LetIn, Player, Terms
from battlebot.arena.places import Traits
from battlebot.runtime.lag import Lag
from battlebot.wire.login import Login

NOT_YET = math.inf  # it came when it sits down, whenever that is


def player_of(
    login: Login | Knock,
    channel: Any,
    connection: str = "1",
    *,
    lag: Lag | None = None,
    released: Callable[[Player], None] = lambda player: None,
    proves: Proof | None = None,
    came_s: float = NOT_YET,
    traits: Traits | None = None,
) -> Player:
    """A player whose login was let in."""
    knock = login if isinstance(login, Knock) else Knock(login)
    return Player(LetIn(knock, proves, came_s), channel, connection, Terms(lag or Lag(), released), traits or Traits())


def login_of(bot: str, game: str = "numberwang", **more: Any) -> Login:
    """A login with a hash that answers nothing."""
    return Login(game, bot, "0" * 64, **more)
