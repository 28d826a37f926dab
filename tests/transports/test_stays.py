"""How a bot that comes in again and again is counted."""

from __future__ import annotations

import time
from typing import Any

import gevent
import pytest
from gevent.event import Event
from players import login_of, player_of

from battlebot.arena.live.turnedaway import Knock
from battlebot.arena.node.player import Player
from battlebot.config import Settings
from battlebot.errors import Unavailable
from battlebot.transports import stays as module
from battlebot.transports.connection import Gone
from battlebot.transports.stays import Stays
from battlebot.wire.closing import RENEWED, SERVER_ERROR, Closing
from battlebot.wire.login import Login, login_hash

NOWHERE: Any = None
PROVES: Any = lambda given, salt: True  # noqa: E731


@pytest.mark.parametrize(("finished", "played", "slowed"), [(0, 0, True), (1, 0, True), (1, 1, False), (2, 1, False)])
def test_who_only_finished_what_the_server_spoilt_has_not_played(finished: int, played: int, slowed: bool) -> None:
    """It is slowed down as if it had not been given a match."""
    stays = Stays(Settings(relogin_free=1), NOWHERE, NOWHERE)
    player = player_of(login_of("ada"), NOWHERE)
    player.finished_matches, player.played_matches = finished, played
    stays.count(player)
    assert (stays._relogin_backoff.delay_s("ada") > 0) is slowed


@pytest.mark.parametrize(("spoilt", "rests"), [(True, True), (False, False)])
def test_who_stays_rests_when_the_server_spoils_one_match_after_the_other(spoilt: bool, rests: bool) -> None:
    """As if it logged in anew; nobody else rests, and who leaves meanwhile does not come in."""
    stays = Stays(Settings(relogin_free=2, relogin_delay_max_s=0.5), NOWHERE, NOWHERE)
    player, other = (player_of(login_of(name), NOWHERE, name) for name in ("ada", "bob"))
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


def test_who_has_gone_when_its_delay_is_over_does_not_come_in_and_is_still_owed_what_it_was_turned_away() -> None:
    """At any door: a seat would be taken, and left again, by one after the other. Who need not wait comes in."""

    class Arena:
        def turned_away(self, knock: Knock, came_s: float) -> None:
            """Notes nothing."""

    arena: Any = Arena()
    stays, knock = Stays(Settings(relogin_free=2, relogin_delay_max_s=0.01), NOWHERE, arena), Knock(login_of("ada"))
    owed_s = 7.0
    stays.turn_away(knock, time.time() - owed_s)
    stays.count(player_of(knock, NOWHERE))
    stays.count(player_of(knock, NOWHERE))
    for _ in range(2):
        with pytest.raises(Gone) as caught:
            stays.let_in(knock, None, time.monotonic(), lambda: True)
        assert (caught.value.clean, caught.value.how) == (False, "broken")
    assert stays.let_in(knock, None, time.monotonic(), lambda: False).came_s < time.time() - owed_s / 2
    assert stays.let_in(Knock(login_of("bob")), None, time.monotonic(), lambda: True).came_s <= time.time()


@pytest.mark.parametrize("leaves", [False, True], ids=["stays", "leaves meanwhile"])
def test_who_cannot_be_let_wait_waits_as_soon_as_that_is_possible(
    monkeypatch: pytest.MonkeyPatch, leaves: bool
) -> None:
    """However often it fails; unless it has left: it is tried no more, and its ticket cannot come afterwards."""
    monkeypatch.setattr(module, "AGAIN_S", 0.01)
    stays = Stays(Settings(), NOWHERE, NOWHERE)
    player = player_of(login_of("ada"), NOWHERE)
    tries: list[bool] = []
    away, often = [True], Event()

    def enter(who: Player) -> None:
        assert not who.gone
        tries.append(away[0])
        if len(tries) == 5:
            often.set()
        if away[0]:
            raise Unavailable("MongoDB does not answer now.")

    stays.entering(player, enter)
    assert often.wait(5.0)
    player.gone, away[0] = leaves, False
    stays._entering[player].join()
    assert tries[-1] is leaves
    assert tries.count(False) == (0 if leaves else 1)


def test_who_leaves_while_it_is_let_wait_leaves_no_ticket_behind() -> None:
    """Redis may be slow to make the ticket: it is taken away afterwards."""
    tickets: set[str] = set()
    answers = Event()

    class Lobby:
        def leave(self, who: Player) -> None:
            tickets.discard(who.bot)

    class Arena:
        def left(self, who: Player, clean: bool, how: str) -> None:
            pass

    class Channel:
        dismissed = False

    def enter(who: Player) -> None:
        answers.wait()
        tickets.add(who.bot)

    lobby: Any = Lobby()
    arena: Any = Arena()
    channel: Any = Channel()
    stays = Stays(Settings(), lobby, arena)
    player = player_of(login_of("ada"), channel)
    with stays.of(player, channel):
        stays.entering(player, enter)
        entering = stays._entering[player]
        gevent.sleep(0)
        gevent.spawn(answers.set)
    entering.join()
    assert tickets == set()


def test_who_waits_while_redis_is_away_is_kept() -> None:
    """The lobby knows it, and its ticks go on."""
    asked: list[tuple[str, bool]] = []

    class Lobby:
        def enter(self, who: Player, may_take: bool = True) -> None:
            asked.append((who.bot, may_take))
            raise Unavailable("Redis does not answer now.")

    lobby: Any = Lobby()
    Stays(Settings(), lobby, NOWHERE).wait(player_of(login_of("ada"), NOWHERE), False)
    assert asked == [("ada", False)], "and its channel, which is not there, was not used"


def test_a_mistake_of_the_server_s_own_closes_the_connection() -> None:
    """Otherwise the player would wait for ever."""
    closed: list[Closing] = []

    class Channel:
        def close(self, reason: Closing) -> None:
            closed.append(reason)

    channel: Any = Channel()
    stays = Stays(Settings(), NOWHERE, NOWHERE)
    player = player_of(login_of("ada"), channel)
    stays.entering(player, lambda who: closed[0])  # type: ignore[arg-type, return-value]
    stays._entering[player].join()
    assert closed == [SERVER_ERROR]


def logged_in(bot: str, pass_hash: str) -> Player:
    """A player that has a password."""
    login = Login("numberwang", bot, login_hash(pass_hash, "salt"))
    return player_of(Knock(login, salt="salt"), NOWHERE, proves=PROVES)


def test_who_logged_in_with_another_pass_hash_than_its_bot_has_now_plays_no_further_match() -> None:
    """Nobody else is touched: no other bot, and no player without a password whose name was registered later."""
    dismissed: list[Player] = []

    class Lobby:
        def dismiss(self, player: Player, reason: Closing) -> None:
            assert reason == RENEWED
            dismissed.append(player)

    lobby: Any = Lobby()
    stays = Stays(Settings(), lobby, NOWHERE)
    old, new, bob = (logged_in("ada", "old"), logged_in("ada", "new"), logged_in("bob", "old"))
    nameless = player_of(login_of("ada"), NOWHERE)
    stays.players |= {old, new, bob, nameless}
    stays.turn_out({"ada": "new"}, time.monotonic())
    assert dismissed == [old]
    assert [player.barred for player in (old, new, bob, nameless)] == [True, False, False, False]


def test_while_redis_is_away_all_of_them_are_barred() -> None:
    """Their matches end meanwhile; who waits is closed as soon as Redis answers, whatever was changed later."""
    dismissed: list[Player] = []
    away = [True]

    class Lobby:
        def dismiss(self, player: Player, reason: Closing) -> None:
            if away[0]:
                raise Unavailable("Redis does not answer now.")
            dismissed.append(player)

    lobby: Any = Lobby()
    stays = Stays(Settings(), lobby, NOWHERE)
    players = {logged_in("ada", "old") for _ in range(3)}
    stays.players |= players
    with pytest.raises(Unavailable):
        stays.turn_out({"ada": "new"}, time.monotonic())
    assert all(player.barred for player in players)
    away[0] = False
    stays.turn_out({"bob": "new"}, time.monotonic())
    assert set(dismissed) == players


def test_who_was_let_in_since_a_node_looked_is_left_to_its_next_look() -> None:
    """The pass_hash may have been changed again meanwhile: then the newest is another than that of the look."""
    stays = Stays(Settings(), NOWHERE, NOWHERE)
    as_of_s = time.monotonic()
    player = logged_in("ada", "newest")
    stays.players.add(player)
    stays.turn_out({"ada": "new"}, as_of_s)
    assert not player.barred
