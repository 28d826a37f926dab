"""Which of the logins that the server turned away are a bot's own: others may use its name."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
import redis
from cluster import wait_for
from conductors import Conductor
from nodes import arena_of
from players import player_of

from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.store import MatchStore
from battlebot.arena.live.turnedaway import MOST, TRIES_AGAIN_S, Knock, TurnedAwayAnywhere
from battlebot.redisio import keys
from battlebot.referee.events import Left
from battlebot.referee.match import Match
from battlebot.rules.registry import Registry
from battlebot.wire.closing import Closing
from battlebot.wire.login import Login, hash_fits, login_hash, new_secret

PASS_HASH = new_secret()
HOME, ELSEWHERE = "192.0.2.1", "192.0.2.2"


def proves(given: str, salt: str) -> bool:
    """What the directory says of a login of `ada`."""
    return hash_fits(given, PASS_HASH, salt)


def knock(
    pass_hash: str | None = PASS_HASH, contest: str | None = None, game: str = "numberwang", address: str = HOME
) -> Knock:
    """A login as `ada`."""
    salt = "" if pass_hash is None else new_secret()
    return Knock(Login(game, "ada", "" if pass_hash is None else login_hash(pass_hash, salt), contest), address, salt)


def forged() -> Knock:
    """A login as `ada` by somebody who does not know the password."""
    ours = knock()
    return replace(ours, login=replace(ours.login, login_hash="0" * 64))


NOTES: dict[str, tuple[Callable[[], Knock], bool, bool]] = {
    # a login that was turned away; whether it counts for `ada` if the name has a password, and if it has none
    "its own": (knock, True, False),
    "its own from elsewhere": (lambda: knock(address=ELSEWHERE), True, False),
    "another password": (lambda: knock(new_secret()), False, False),
    "no password at all": (forged, False, False),
    "the answer to another salt": (lambda: replace(knock(), salt=new_secret()), False, False),
    "a name without a password": (lambda: knock(None), False, True),
    "for a contest": (lambda: knock(contest="autumn"), False, False),
    "for another game": (lambda: knock(game="gomoku"), False, False),
}


@pytest.mark.parametrize("case", NOTES)
def test_only_a_bot_s_own_logins_for_the_same_match_count(client: redis.Redis, case: str) -> None:
    """Nobody could check a password when they were turned away."""
    note, counts, counts_without = NOTES[case]
    turned_away = TurnedAwayAnywhere(client)
    turned_away.note(note(), 1000.0, 1001.5)
    assert turned_away.attempts(knock(), proves) == ((1000.0, 1001.5),) * counts
    assert turned_away.attempts(knock(None), None) == ((1000.0, 1001.5),) * counts_without


def test_notes_from_elsewhere_push_out_none_of_the_bot_s_own(client: redis.Redis) -> None:
    """Anybody may try to log in under its name, as often as the node answers."""
    turned_away = TurnedAwayAnywhere(client)
    turned_away.note(knock(), 1000.0, 1001.0)
    for _ in range(MOST + 1):
        turned_away.note(replace(forged(), address=ELSEWHERE), 1000.5, 1001.5)
    assert turned_away.attempts(knock(), proves) == ((1000.0, 1001.0),)
    for address in ("", HOME, ELSEWHERE):
        name = keys.turned_away("ada", address)
        assert client.llen(name) <= MOST
        assert 0 < client.ttl(name) <= TRIES_AGAIN_S


class Bot:
    """A channel to nobody."""

    held_up = False

    def send(self, text: str, on_written: Callable[[float], None] | None = None) -> None:
        pass

    def close(self, reason: Closing) -> None:
        pass


@pytest.mark.parametrize(("of_whom", "charged_s"), [(knock, 4.0), (forged, 12.0)])
def test_who_comes_back_is_charged_until_its_own_login_was_turned_away(
    begun: Callable[..., Match],
    store: MatchStore,
    registry: Registry,
    client: redis.Redis,
    of_whom: Callable[[], Knock],
    charged_s: float,
) -> None:
    """Its node knows it, and lets it in while the others cannot look it up."""
    now_s, heartbeats = time.time(), Heartbeats(client)
    left_s = now_s - 12.0
    heartbeats.send("n1", now_s - 30, first=True)
    for seconds in range(29, -1, -1):
        heartbeats.send("n1", now_s - seconds, first=False, ago_s=math.inf)
    match = begun("numberwang", now_s=left_s, turn_timeout_ms=20_000)
    Conductor(registry, store, now_s=lambda: left_s).conduct(match, Left("ada", "n1/1.1", False))
    at_another_node, at_its_own = (
        arena_of(Conductor(registry, store, node, now_s=lambda: now_s)) for node in ("n2", "n1")
    )
    at_another_node.turned_away(of_whom(), left_s + 4.0)
    wait_for(lambda: client.exists(keys.turned_away("ada", HOME)), "the note")
    player = player_of(knock(), Bot(), "2", proves=proves, came_s=now_s)
    player.new_place("n1", now_s)
    assert at_its_own.join(player, match.id)
    remaining_s = store.load(match.id).seats[0].remaining_s
    assert remaining_s == pytest.approx(match.limits.turn_timeout_s - charged_s, abs=0.1)


@pytest.mark.parametrize(("game", "hashed"), [("no such game", "0" * 64), ("numberwang", "0" * 65)])
def test_what_cannot_be_a_bot_s_own_login_is_not_kept(
    store: MatchStore, registry: Registry, client: redis.Redis, game: str, hashed: str
) -> None:
    """It may be as long as a message."""
    arena = arena_of(Conductor(registry, store, "n1"))
    arena.turned_away(Knock(Login(game, "eve", hashed), HOME, new_secret()), time.time())
    arena.turned_away(knock(), time.time())
    wait_for(lambda: client.exists(keys.turned_away("ada", HOME)), "the later note")
    assert not client.exists(keys.turned_away("eve", HOME))


def test_what_redis_says_of_a_note_that_it_refuses_shows_no_secret(client: redis.Redis) -> None:
    """Errors are logged."""
    client.set(keys.turned_away("ada", HOME), "no list")
    ours = knock()
    with pytest.raises(redis.ResponseError) as refused:
        TurnedAwayAnywhere(client).note(ours, 1000.0, 1001.0)
    assert "WRONGTYPE" in str(refused.value)
    shown = f"{refused.value} {ours}"
    assert ours.login.login_hash[:8] not in shown
