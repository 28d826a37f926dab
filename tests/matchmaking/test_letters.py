"""Who waits learns of its match once, by the letter or by the tick; also of one that fails to begin."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import redis
from cluster import wait_for
from conductors import Conductor
from lobbies import begun_for_ada, bot_of, comes, lobby_of, played_by_ada
from peer import new_name
from records import GAMES

from battlebot.arena.live.finished import Finished
from battlebot.arena.live.queue import Ticket
from battlebot.config import Settings
from battlebot.logs import configure_logs
from battlebot.matchmaking.lobby import Lobby
from battlebot.redisio import keys
from battlebot.redisio.bus import Mailbox
from battlebot.referee.events import Turned
from battlebot.rules.registry import Registry
from battlebot.wire import closing


@pytest.fixture
def mailbox(lobby: Lobby, client: redis.Redis) -> Iterator[Callable[..., None]]:
    """Reads what lies in the mailbox of the node n1; `lost`: nobody is told."""
    pubsub = client.pubsub(ignore_subscribe_messages=True)
    pubsub.subscribe(keys.mailbox("n1"))
    assert pubsub.get_message(timeout=5) is None

    post = lobby.arena.post()

    def read(lost: bool = False) -> None:
        while message := pubsub.get_message(timeout=0.5):
            if not lost:
                post.take(message["data"])

    yield read
    pubsub.close()


def test_who_waits_is_told_the_beginning_first_though_the_tick_is_quicker(
    lobby: Lobby, mailbox: Callable[[], None]
) -> None:
    """The letters lie unread while the first mover, who has read its own, plays."""
    players = {"ada": comes("ada"), "bob": comes("bob", "2")}
    for player in players.values():
        lobby.enter(player)
    (match_id,) = lobby.store.live_ids()
    match = lobby.store.load(match_id)
    first, second = (players[seat.bot] for seat in match.seats)
    Conductor(lobby.registry, lobby.store, "n2").conduct(match, Turned(first.bot, {"n": 1}, 0.1))
    lobby.tick()
    mailbox()
    wait_for(lambda: len(bot_of(second).told) == 2, "the beginning and the turn")
    assert [json.loads(text)["match"]["version"] for text in bot_of(second).told] == [0, 1]
    assert "turn" in bot_of(second).told[1]


def test_who_waits_for_a_match_whose_letter_was_lost_is_told_by_the_next_tick(
    lobby: Lobby, mailbox: Callable[..., None]
) -> None:
    """The mailbox's connection broke in that moment."""
    players = [comes("ada"), comes("bob", "2")]
    for player in players:
        lobby.enter(player)
    mailbox(lost=True)
    lobby.tick()
    mailbox()
    wait_for(lambda: all(player.table is not None for player in players), "their seats")
    assert [len(bot_of(player).told) for player in players] == [1, 1]


def test_no_ticket_is_marked_for_longer_than_its_match_is_there(lobby: Lobby, client: redis.Redis) -> None:
    """Of a match that it slept through, a node's bot would wait for nothing until the mark's end."""
    match = played_by_ada(lobby)
    Finished(lobby.store.client).retire([match.id])
    assert 0 < client.pexpiretime(keys.ticket("n2/8.1/ada")) <= client.pexpiretime(keys.match(match.id))


def no_beginning(players: list[str], seed: int, options: dict[str, Any]) -> dict[str, Any]:
    """A game's function with a mistake."""
    raise RuntimeError("no board for these")


@pytest.mark.usefixtures("logs_as_before")
def test_a_game_that_fails_to_begin_ends_its_match_and_no_other_waits_for_it(
    client: redis.Redis, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """The tick that finds its bots goes on with other games'; both are told of a draw by the server's fault, once."""
    configure_logs(Settings(log_format="json"))
    connectfour, gomoku = (GAMES[name] for name in ("connectfour", "gomoku"))
    broken = replace(connectfour, rules=replace(connectfour.rules, initial_state=no_beginning))
    registry = Registry({broken.name: broken, gomoku.name: gomoku})
    # of a name that no other test has: its mailbox is read for as long as this process lives
    lobby = lobby_of(new_name("node"), client, settings, registry)
    Mailbox(client, keys.mailbox(lobby.arena.node), lobby.arena.post().take, lambda: None).start()
    players = [comes(bot, bot, game) for game in lobby.registry for bot in (f"{game}-1", f"{game}-2")]
    for player in players:
        lobby.enter(player, may_take=False)
        lobby._waiters.overlook([player.place])
    lobby.tick()
    wait_for(lambda: all(player.channel.told for player in players), "the updates")  # type: ignore[attr-defined]
    begun, ended = [[json.loads(player.channel.told[0]) for player in two] for two in (players[2:], players[:2])]  # type: ignore[attr-defined]
    assert [update["state"]["complete"] for update in begun] == [False, False]
    [row] = Finished(client).read(Finished(client).ids(9))
    for player, update in zip(players[:2], ended, strict=True):
        state = update["state"]
        assert (state["complete"], state["victor"], state["reason"]) == (True, None, "error")
        assert sorted(state["players"]) == ["connectfour-1", "connectfour-2"]
        assert (update["match"]["id"], update["match"]["fault"]) == (row.match.id, "server")
        assert (player.finished_matches, player.played_matches) == (1, 0)
        assert (len(player.channel.told), player.table) == (1, None)  # type: ignore[attr-defined]
    assert row.match.verdict is not None
    assert row.match.verdict.void
    assert row.match.verdict.evidence == {"error": "RuntimeError", "event": "Begun"}
    assert row.match.id not in lobby.store.live_ids()
    [failed] = [line for line in capsys.readouterr().err.splitlines() if "match.failed" in line]
    assert "in no_beginning" in json.loads(failed)["exception"]


def test_who_waits_for_a_match_that_cannot_be_read_is_sent_away_and_holds_nobody_up(
    client: redis.Redis, settings: Settings
) -> None:
    """It may come back at a node of the version that wrote it; the tick goes on with the others."""
    lobby = lobby_of(new_name("node"), client, settings)
    ada, eve = comes(), comes("eve", "9")
    lobby.enter(ada)
    match = begun_for_ada(lobby, ada.place)
    client.hset(keys.match(match.id), "doc", b'{"id": "m"}')
    Mailbox(client, keys.mailbox(lobby.arena.node), lobby.arena.post().take, lambda: None).start()
    lobby.enter(eve)
    lobby.queues.leave("numberwang", Ticket(eve.place, "eve", eve.waiting_since_s))
    lobby.tick()
    wait_for(lambda: bot_of(ada).closed == [closing.UNAVAILABLE], "the close")
    lobby.tick()
    assert [ticket.bot for ticket in lobby.queues.tickets("numberwang")] == ["eve"]
    assert bot_of(eve).closed == []
