"""How a bot that comes in again and again is counted."""

from __future__ import annotations

from typing import Any

import pytest

from battlebot.arena.node.player import Player
from battlebot.config import Settings
from battlebot.runtime.lag import Lag
from battlebot.transports.stays import Stays
from battlebot.wire.login import Login

NOWHERE: Any = None


@pytest.mark.parametrize(("finished", "played", "slowed"), [(0, 0, True), (1, 0, True), (1, 1, False), (2, 1, False)])
def test_who_only_finished_what_the_server_spoilt_has_not_played(finished: int, played: int, slowed: bool) -> None:
    """It is slowed down as if it had not been given a match."""
    stays = Stays(Settings(relogin_free=1), NOWHERE, NOWHERE)
    login = Login.decode(f'{{"game": "numberwang", "bot_id": "ada", "login_hash": "{"0" * 64}"}}', 8)
    player = Player(login, NOWHERE, "1", Lag())
    player.finished_matches, player.played_matches = finished, played
    stays.count(player)
    assert (stays._patience.delay_s("ada") > 0) is slowed
