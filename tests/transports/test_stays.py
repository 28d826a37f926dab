"""How a bot that comes in again and again is counted."""

from __future__ import annotations

from typing import Any

import gevent
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
    player = Player(_login("ada"), NOWHERE, "1", Lag(), lambda player: None)
    player.finished_matches, player.played_matches = finished, played
    stays.count(player)
    assert (stays._patience.delay_s("ada") > 0) is slowed


@pytest.mark.parametrize(("spoilt", "rests"), [(True, True), (False, False)])
def test_who_stays_rests_when_the_server_spoils_one_match_after_the_other(spoilt: bool, rests: bool) -> None:
    """As if it logged in anew; nobody else rests, and who leaves meanwhile does not come in."""
    stays = Stays(Settings(relogin_free=2, relogin_delay_max_s=0.5), NOWHERE, NOWHERE)
    player, other = (Player(_login(name), NOWHERE, name, Lag(), lambda player: None) for name in ("ada", "bob"))
    entered: list[str] = []
    player.was_spoilt = spoilt
    for _ in range(9):
        stays.again(player, lambda who: entered.append(who.bot))
    stays.again(other, lambda who: entered.append(who.bot))
    gevent.sleep(0)
    assert entered == (["ada", "bob"] if rests else ["ada"] * 9 + ["bob"])
    player.gone = True
    gevent.joinall(list(stays._entering.values()))
    assert entered == (["ada", "bob"] if rests else ["ada"] * 9 + ["bob"])


def _login(name: str) -> Login:
    return Login.decode(f'{{"game": "numberwang", "bot_id": "{name}", "login_hash": "{"0" * 64}"}}', 8)
