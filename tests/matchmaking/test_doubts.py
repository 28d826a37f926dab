"""A bot that comes while it plays is held back until it is clear that its other connection lives."""

from __future__ import annotations

import time
from dataclasses import replace

import orjson
import pytest
import redis
from conductors import Conductor
from lobbies import beats, bot_of, comes, ends, lobby_of, played_by_ada, tick_before_the_next_answer

from battlebot.arena.live.cutoff import LONGEST_S, CutOff
from battlebot.arena.live.making import begin, new_match
from battlebot.arena.live.queue import BY_A_TASK, Ticket
from battlebot.arena.node.player import Player
from battlebot.arena.places import Traits, stateless_place
from battlebot.config import Settings
from battlebot.errors import Unavailable, UnreadableMatch
from battlebot.matchmaking.doubts import HOLD_S
from battlebot.matchmaking.lobby import Lobby
from battlebot.redisio import keys
from battlebot.referee.events import Left, Orphaned
from battlebot.referee.match import Match, Series


def test_who_comes_back_before_its_broken_connection_was_noticed_plays_on(lobby: Lobby) -> None:
    """Another node has not heard yet that it is gone: no other match may begin with it meanwhile."""
    match, player = played_by_ada(lobby), comes()
    lobby.enter(comes("cat", "3"), may_take=False)
    lobby.enter(player)
    assert [ticket.bot for ticket in lobby.queues.tickets("numberwang")] == ["cat"]
    Conductor(lobby.registry, lobby.store, "n2").conduct(match, Left("ada", "n2/8.1", False))
    lobby.tick()
    assert player.table is not None
    assert player.table.match_id == match.id


def test_a_bot_that_plays_at_another_connection_is_held_back_for_a_moment_only(
    lobby: Lobby, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two connections of one bot are allowed; that the other one lives is known by its node's heartbeats."""
    monkeypatch.setattr("battlebot.matchmaking.waiters.MOST", 0)  # it is not yet its turn to be looked at
    played_by_ada(lobby)
    lobby.enter(comes())
    for at_s in (1000.0, 1000.0 + HOLD_S):
        beats(client, at_s)
        lobby.tick()
        assert lobby.queues.tickets("numberwang") == []
    beats(client, 1001.0 + HOLD_S)
    lobby.tick()
    assert [ticket.bot for ticket in lobby.queues.tickets("numberwang")] == ["ada"]


def test_a_bot_is_held_back_until_its_other_connection_s_node_is_found_dead(lobby: Lobby, client: redis.Redis) -> None:
    """However long that takes: a second match would keep it from the first."""
    match, player = played_by_ada(lobby), comes()
    beats(client, 999.5)
    lobby.enter(player)
    for after_s in (1.0, 5.0, 60.0):
        lobby.now_s = lambda after_s=after_s: 1000.0 + after_s
        lobby.tick()
        assert lobby.queues.tickets("numberwang") == []
    Conductor(lobby.registry, lobby.store, "").conduct(match, Orphaned("ada", "n2/8.1", "node-dead"))
    lobby.tick()
    assert player.table is not None
    assert player.table.match_id == match.id


def test_a_node_that_stood_still_may_notice_that_a_bot_is_gone_after_its_first_heartbeat(
    lobby: Lobby, client: redis.Redis
) -> None:
    """It beats, and reads what lies there, in any order."""
    match, player = played_by_ada(lobby), comes()
    lobby.enter(player)
    beats(client, 1006.0)
    lobby.tick()
    assert lobby.queues.tickets("numberwang") == []
    Conductor(lobby.registry, lobby.store, "n2").conduct(match, Left("ada", "n2/8.1", False))
    lobby.tick()
    assert player.table is not None
    assert player.table.match_id == match.id


def test_who_was_held_back_and_is_gone_is_forgotten(lobby: Lobby) -> None:
    """Many come and go while a node is silent."""
    played_by_ada(lobby)
    player = comes()
    lobby.enter(player)
    assert lobby._doubts.places() == [player.place]
    lobby.leave(player)
    lobby.tick()
    assert lobby._doubts.places() == []


def test_who_is_held_back_for_another_match_is_held_back_for_that_one_alone(lobby: Lobby) -> None:
    """What is known of the first says nothing of the second."""
    lobby._doubts.note("n1/1.1", "first")
    lobby._doubts.note("n1/1.1", "second")
    assert lobby._doubts.match_of("n1/1.1") == "second"


def test_who_has_just_played_is_not_held_back(lobby: Lobby) -> None:
    """Clients of protocol 1 come back by a new connection for each match of a contest."""
    ends(lobby, played_by_ada(lobby), "n2")
    assert lobby.store.live_ids() == []
    lobby.enter(comes())
    assert [ticket.bot for ticket in lobby.queues.tickets("numberwang")] == ["ada"]


def test_who_is_held_back_while_the_tick_says_who_waits_waits_for_no_other(
    lobby: Lobby, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tick knows it already, and not yet that it plays: another match would keep it from its seat."""
    played_by_ada(lobby)
    tick_before_the_next_answer(lobby, monkeypatch)
    lobby.enter(comes())
    assert lobby.queues.tickets("numberwang") == []


def test_who_has_an_empty_seat_in_a_contest_is_held_back_from_others_outside_of_it_all_the_same(lobby: Lobby) -> None:
    """It is no seat for the one who comes, whose own may be about to be found empty."""
    contest, queue = "autumn", keys.queue_name("numberwang", "autumn")
    seats = [("ada", "n2/1.1"), ("bob", "n2/2.1")]
    elsewhere = new_match(lobby.registry["numberwang"], seats, lobby.settings, time.time(), contest=contest)
    for bot, place in seats:
        lobby.queues.wait(queue, Ticket(place, bot, 1000.0), BY_A_TASK)
    assert begin(lobby.store, lobby.registry["numberwang"], elsewhere, queue)
    match, player = played_by_ada(lobby), comes()
    Conductor(lobby.registry, lobby.store, "n2").conduct(elsewhere, Left("ada", "n2/1.1", False))
    lobby.enter(player)
    assert lobby.queues.tickets("numberwang") == []
    Conductor(lobby.registry, lobby.store, "n2").conduct(match, Left("ada", "n2/8.1", False))
    lobby.tick()
    assert player.table is not None
    assert player.table.match_id == match.id


def told_ends(player: Player) -> list[str]:
    """The ids of the matches whose ends the player was told; it was told nothing else."""
    told = [orjson.loads(text) for text in bot_of(player).told]
    assert all(one["state"]["complete"] and "victor" in one["state"] for one in told)
    return [one["match"]["id"] for one in told]


def waiting(lobby: Lobby, queue: str = "numberwang") -> list[str]:
    """The bots that wait for a match."""
    return [ticket.bot for ticket in lobby.queues.tickets(queue)]


def is_found_dead(client: redis.Redis) -> None:
    """What the sweep does with the node at which `ada` had its seat, when all its seats are empty."""
    client.zrem(keys.NODES, "n2")


@pytest.mark.parametrize("contest", ["", "autumn"])
def test_who_is_held_back_is_told_the_end_that_a_dead_node_could_not_tell(
    lobby: Lobby, client: redis.Redis, contest: str
) -> None:
    """It learns it once, when its match's node is found dead, and goes on as after any end."""
    match, player = played_by_ada(lobby, contest), comes(contest=contest)
    beats(client, 999.5)
    lobby.enter(player)
    ends(lobby, match)
    for after_s in (1.0, 5.0, 7.0):
        lobby.now_s = lambda after_s=after_s: 1000.0 + after_s
        lobby.tick()
        assert (told_ends(player), waiting(lobby, keys.queue_name("numberwang", contest or None))) == ([], [])
    is_found_dead(client)
    for _ in range(2):
        lobby.tick()
        assert told_ends(player) == [match.id]
    assert (player.finished_matches, waiting(lobby, keys.queue_name("numberwang", contest or None))) == (1, [])


@pytest.mark.parametrize("beat_s", [1000.1, 1006.0])
def test_an_end_that_a_living_node_told_is_not_told_at_another_connection(
    lobby: Lobby, client: redis.Redis, beat_s: float
) -> None:
    """One heartbeat after the end shows that it lives. Also if it stood still: it reads the letter that lies there."""
    match, player = played_by_ada(lobby), comes()
    beats(client, 999.5)
    lobby.enter(player)
    ends(lobby, match)
    for _ in range(2):
        lobby.tick()
        assert waiting(lobby) == []
    beats(client, beat_s)
    lobby.tick()
    assert waiting(lobby) == ["ada"]
    is_found_dead(client)
    lobby.tick()
    assert told_ends(player) == []


def test_who_has_left_before_the_end_and_is_back_is_told_it(lobby: Lobby, client: redis.Redis) -> None:
    """Its seat was empty for a moment only, in which nobody looked."""
    match, player = played_by_ada(lobby), comes()
    beats(client, 999.5)
    lobby.enter(player)
    Conductor(lobby.registry, lobby.store, "n2").conduct(match, Left("ada", "n2/8.1", False))
    ends(lobby, match)
    lobby.tick()
    assert (told_ends(player), waiting(lobby)) == ([match.id], [])


def test_of_several_connections_one_is_told_the_end_and_the_others_wait(
    lobby: Lobby, client: redis.Redis, settings: Settings
) -> None:
    """Wherever they are: one seat was lost."""
    elsewhere = lobby_of("n3", client, settings)
    match, players = played_by_ada(lobby), [comes(), comes(connection="2"), comes(connection="3")]
    for player, where in zip(players, (lobby, lobby, elsewhere), strict=True):
        where.enter(player)
    ends(lobby, match)
    is_found_dead(client)
    for where in (lobby, elsewhere, lobby):
        where.tick()
    assert [told_ends(player) for player in players] == [[match.id], [], []]
    assert waiting(lobby) == ["ada", "ada"]


def test_who_is_held_back_is_told_the_end_though_its_bot_plays_another_match_since(
    lobby: Lobby, client: redis.Redis
) -> None:
    """A third connection, which waited already, was given it."""
    match, player = played_by_ada(lobby), comes()
    beats(client, 999.5)
    lobby.enter(player)
    played_by_ada(lobby, node="n4")
    lobby.tick()
    ends(lobby, match)
    lobby.tick()
    assert (told_ends(player), waiting(lobby)) == ([], [])
    is_found_dead(client)
    lobby.tick()
    assert told_ends(player) == [match.id]


def test_a_node_that_nobody_finds_dead_holds_nobody_back_for_ever_once_the_match_is_over(
    lobby: Lobby, client: redis.Redis
) -> None:
    """No worker runs, or its door is shut."""
    match, player = played_by_ada(lobby), comes()
    beats(client, 999.5)
    lobby.enter(player)
    ends(lobby, match)
    lobby.tick()
    lobby.now_s = lambda: 999.9 + 3 * lobby.settings.node_timeout_s
    lobby.tick()
    assert waiting(lobby) == []
    lobby.now_s = lambda: 1000.0 + 3 * lobby.settings.node_timeout_s
    lobby.tick()
    assert (told_ends(player), waiting(lobby)) == ([], ["ada"])


@pytest.mark.parametrize(
    ("game", "contest"), [("numberwang", "autumn"), ("noughtsandcrosses", "")], ids=["of a contest", "of another game"]
)
def test_the_end_of_a_match_is_told_only_to_who_comes_for_one_like_it(
    lobby: Lobby, client: redis.Redis, game: str, contest: str
) -> None:
    """That match is no business of a process that plays elsewhere, or another game."""
    match, player = played_by_ada(lobby, contest), comes(game=game)
    beats(client, 999.5)
    lobby.enter(player)
    ends(lobby, match)
    assert waiting(lobby, game) == []
    lobby.tick()
    assert (told_ends(player), waiting(lobby, game)) == ([], ["ada"])


def test_a_bot_that_is_asked_at_its_address_in_a_match_is_not_held_back_for_it(lobby: Lobby) -> None:
    """No connection of it can be broken, and no node's heartbeats would show that."""
    game, seats = lobby.registry["numberwang"], [("bob", "n2/9.1"), ("ada", stateless_place("1"))]
    addresses = {"ada": "http://bots.example/"}
    match = new_match(game, seats, lobby.settings, time.time(), addresses=addresses)
    for bot, place in seats:
        lobby.queues.wait("numberwang", Ticket(place, bot, 1000.0), BY_A_TASK)
    assert begin(lobby.store, game, match, "numberwang")
    lobby.enter(comes())
    lobby.tick()
    assert waiting(lobby) == ["ada"]


def test_who_is_held_back_for_one_match_is_given_its_empty_seat_in_another(lobby: Lobby, client: redis.Redis) -> None:
    """Its bot plays several; the newest is not always the one whose connection was lost."""
    earlier = played_by_ada(lobby, node="n4")
    played_by_ada(lobby)
    player = comes()
    beats(client, 999.5)
    lobby.enter(player)
    lobby.tick()
    assert (player.table, waiting(lobby)) == (None, [])
    Conductor(lobby.registry, lobby.store, "n4").conduct(earlier, Left("ada", "n4/8.1", False))
    lobby.tick()
    assert player.table is not None
    assert player.table.match_id == earlier.id


def test_who_has_a_seat_at_the_next_board_is_not_released_by_the_end_of_this_one(
    lobby: Lobby, client: redis.Redis
) -> None:
    """Its seat at the next board is empty as soon as the node is found dead."""
    match, player = played_by_ada(lobby, series=Series("s", 1, 2, 7)), comes()
    beats(client, 999.5)
    lobby.enter(player)
    ends(lobby, match)
    [following] = lobby.store.live_ids()
    Conductor(lobby.registry, lobby.store, "").conduct(
        lobby.store.load(following), Orphaned("ada", "n2/8.1", "node-dead")
    )
    is_found_dead(client)
    lobby.tick()
    assert player.table is not None
    assert player.table.match_id == following


def test_a_seat_that_is_none_for_the_one_who_comes_does_not_hold_it_back_for_longer(
    lobby: Lobby, client: redis.Redis
) -> None:
    """What is known of its match's node is not forgotten with each look at that seat."""
    elsewhere = played_by_ada(lobby, "autumn", node="n5")
    played_by_ada(lobby)
    Conductor(lobby.registry, lobby.store, "n5").conduct(elsewhere, Left("ada", "n5/8.1", False))
    lobby.enter(comes())
    for beat_s in (1000.0 + HOLD_S, 1001.0 + HOLD_S):
        assert waiting(lobby) == []
        beats(client, beat_s)
        lobby.tick()
    assert waiting(lobby) == ["ada"]


def test_who_is_told_the_end_by_resuming_its_match_is_told_at_no_other_connection(
    lobby: Lobby, client: redis.Redis
) -> None:
    """The one that is held back may be another process, which knows nothing of that match."""
    match, player, resumed = played_by_ada(lobby), comes(), comes(connection="2")
    beats(client, 999.5)
    lobby.enter(player)
    ends(lobby, match)
    resumed.login = replace(resumed.login, resume=match.id)
    lobby.enter(resumed)
    is_found_dead(client)
    lobby.tick()
    assert (told_ends(resumed), told_ends(player), waiting(lobby)) == ([match.id], [], ["ada"])


def test_a_contest_does_not_miss_who_is_held_back_after_the_end_of_its_match(lobby: Lobby, client: redis.Redis) -> None:
    """It has neither seat nor ticket, and is there all the same: it would lose its next meetings."""
    queue, cut_off = keys.queue_name("numberwang", "autumn"), CutOff(client, lobby.arena.heartbeats)
    match = played_by_ada(lobby, "autumn")
    beats(client, 999.5)
    lobby.enter(comes(contest="autumn"))
    ends(lobby, match)
    for after_s in (0.0, 1.0):
        lobby.now_s = lambda after_s=after_s: 1000.0 + after_s
        lobby.tick()
        assert cut_off.times(queue, [], 1000.0 + after_s, 15.0) == {"ada": (1000.0, 1000.0 + LONGEST_S)}
    is_found_dead(client)
    lobby.tick()
    assert "ada" in cut_off.times(queue, [], 1002.0, 15.0)
    assert cut_off.times(queue, [("ada", "n1/1.2")], 1003.0, 15.0) == {}


def test_who_resumes_a_match_that_goes_on_leaves_its_end_to_be_told(lobby: Lobby, client: redis.Redis) -> None:
    """The node that it came back to may die, too."""
    match, resumed = played_by_ada(lobby), comes()
    resumed.login = replace(resumed.login, resume=match.id)
    lobby.enter(resumed)
    assert resumed.table is not None
    assert lobby.store.claim_end(match.id, "ada", "n3/1.1")


def test_who_has_been_told_the_end_by_resuming_is_not_sent_away_if_redis_fails_then(
    lobby: Lobby, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has what it came for."""
    match, resumed = played_by_ada(lobby), comes()
    ends(lobby, match)
    resumed.login = replace(resumed.login, resume=match.id)
    monkeypatch.setattr(lobby.store, "claim_end", fails)
    lobby.enter(resumed)
    assert told_ends(resumed) == [match.id]


def test_a_kept_session_that_resumes_a_match_that_is_over_waits_on_for_its_next(
    lobby: Lobby, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is released at once, and comes back while Redis answers that the end is told."""
    match, resumed, claim_end = played_by_ada(lobby), comes(), lobby.store.claim_end
    ends(lobby, match)

    def comes_back(*claim: str) -> bool:
        lobby.enter(resumed)
        return claim_end(*claim)

    resumed.login = replace(resumed.login, resume=match.id)
    monkeypatch.setattr(lobby.store, "claim_end", comes_back)
    lobby.enter(resumed)
    lobby.tick()
    assert (told_ends(resumed), waiting(lobby)) == ([match.id], ["ada"])


@pytest.mark.parametrize("traits", [Traits(), Traits(stays=True, boards=2)], ids=["WebSocket", "TCP"])
def test_who_comes_to_a_node_that_cannot_read_its_match_is_not_paired_while_its_seat_is_kept(
    lobby: Lobby, client: redis.Redis, monkeypatch: pytest.MonkeyPatch, traits: Traits
) -> None:
    """Another version wrote it. Whoever plays elsewhere has left its match, and loses it."""

    def unreadable(match_id: str) -> Match:
        raise UnreadableMatch("Another version wrote it.")

    match, player = played_by_ada(lobby), comes()
    player.traits = traits
    Conductor(lobby.registry, lobby.store, "n2").conduct(match, Orphaned("ada", "n2/8.1", "unavailable"))
    monkeypatch.setattr(lobby.store, "load", unreadable)
    lobby.enter(player)
    lobby.look_again(player)
    kept_s = lobby.settings.node_grace_s + lobby.settings.node_timeout_s
    for after_s in (0.0, kept_s - 0.1):
        lobby.now_s = lambda after_s=after_s: 1000.0 + after_s
        lobby.tick()
        assert (player.table, waiting(lobby)) == (None, [])
    lobby.now_s = lambda: 1000.0 + kept_s
    lobby.tick()
    assert waiting(lobby) == ["ada"]


def fails(*_: str) -> bool:
    """Redis is away."""
    raise Unavailable("away")
