"""Live matches that the sweep cannot look after: they keep no other from it, are told of, and given up at last."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import redis
from conductors import Conductor
from structlog.testing import capture_logs

from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.inspection import ArenaInspection
from battlebot.arena.live.queue import Queues
from battlebot.arena.live.store import MatchStore
from battlebot.arena.live.sweep import Sweeper
from battlebot.arena.live.troubles import AGAIN_S, FORGOTTEN_S, GIVEN_UP_S
from battlebot.errors import Unavailable
from battlebot.redisio import keys
from battlebot.referee.events import Left
from battlebot.referee.match import Match
from battlebot.rules.registry import Registry
from battlebot.runtime.loglimit import LogLimit

BETWEEN_S = 15.0  # of two sweeps here: a match that was put off is due again, with the time that nodes have first


class Night:
    """A match of numberwang and one of noughts and crosses that nobody has looked after for long; n1 and n2 live."""

    def __init__(self, client: redis.Redis, store: MatchStore, registry: Registry, begun: Callable[..., Match]) -> None:
        self.client, self.store, self.all_games, self.now_s = client, store, registry, time.time()
        self.gone = begun("numberwang", now_s=self.now_s - 300)
        self.other = begun("noughtsandcrosses", "n1/2.1", "n2/2.1", now_s=self.now_s - 200)
        self.sweep_with(registry)

    def sweep_with(self, registry: Registry) -> None:
        """From now on the worker has these games."""
        conductor = Conductor(registry, self.store, now_s=lambda: self.now_s)
        self.sweeper = Sweeper(conductor, Queues(self.client), 5.0, 1.0)

    def remove_the_game(self) -> None:
        """The worker has no numberwang any more."""
        self.sweep_with(Registry({name: game for name, game in self.all_games.items() if name != "numberwang"}))

    def spoil_the_document(self) -> None:
        """Another version has written it."""
        self.client.hset(keys.match(self.gone.id), "doc", b'{"id": "m"}')

    def sweep(self, seconds: float = BETWEEN_S) -> None:
        """Sweeps, so long after the last time."""
        self.now_s += seconds
        for node in ("n1", "n2"):
            Heartbeats(self.client).send(node, self.now_s, first=False)
        self.sweeper.sweep()


@pytest.fixture
def night(
    client: redis.Redis,
    store: MatchStore,
    registry: Registry,
    begun: Callable[..., Match],
    monkeypatch: pytest.MonkeyPatch,
) -> Night:
    """Returns it, with all games."""
    night = Night(client, store, registry, begun)
    monkeypatch.setattr("battlebot.arena.live.troubles.may_tell", LogLimit(lambda: night.now_s))
    return night


CAUSES = {"the game is not installed": Night.remove_the_game, "it cannot be read": Night.spoil_the_document}


@pytest.fixture(params=CAUSES)
def hopeless(night: Night, request: pytest.FixtureRequest) -> Night:
    """Returns it, with a match that nobody can bring on."""
    CAUSES[request.param](night)
    return night


def test_the_others_are_looked_after_and_it_does_not_stand_first_for_ever(hopeless: Night) -> None:
    """It is put off, and the sweep was made."""
    hopeless.sweep()
    assert hopeless.store.load(hopeless.other.id).nudges == 1
    assert hopeless.store.live_ids() == [hopeless.other.id, hopeless.gone.id]
    assert hopeless.client.zscore(keys.DEADLINES, hopeless.gone.id) == int((hopeless.now_s + AGAIN_S) * 1000)
    assert hopeless.client.exists(keys.SWEPT)


def test_operators_see_it_until_it_goes_on(night: Night) -> None:
    """In the log once a minute, with the cause; and where they look whether all is well."""
    night.remove_the_game()
    with capture_logs() as told:
        for _ in range(4):
            night.sweep()
    told = [line for line in told if line["event"] == "match.not_looked_after"]
    assert [(line["match"], line["log_level"], str(line["exc_info"])[:33]) for line in told] == [
        (night.gone.id, "error", "There is no game 'numberwang'. Th")
    ]
    assert list(ArenaInspection(night.client).troubles()) == [night.gone.id]
    with pytest.raises(Unavailable, match=r"^Live matches that the sweep cannot look after: 1\."):
        ArenaInspection(night.client).check_sweep()
    night.sweep_with(night.all_games)
    night.sweep()
    assert night.store.load(night.gone.id).nudges == 1
    assert ArenaInspection(night.client).troubles() == {}
    ArenaInspection(night.client).check_sweep()


def test_what_has_gone_on_elsewhere_is_forgotten(night: Night) -> None:
    """Its node has taken a turn, and the sweep finds it no longer overdue."""
    night.remove_the_game()
    night.sweep()
    night.client.zadd(keys.DEADLINES, {night.gone.id: (night.now_s + 2 * FORGOTTEN_S) * 1000})
    for _ in range(int(FORGOTTEN_S / BETWEEN_S) - 1):
        night.sweep()
    assert list(ArenaInspection(night.client).troubles()) == [night.gone.id]
    night.sweep(BETWEEN_S + 1)
    assert ArenaInspection(night.client).troubles() == {}


def test_it_is_set_aside_when_there_is_no_hope(hopeless: Night) -> None:
    """Two versions may run beside each other for a while, or a game be missing by mistake."""
    for _ in range(int(GIVEN_UP_S / BETWEEN_S)):
        hopeless.sweep()
    assert hopeless.gone.id in hopeless.store.live_ids()
    assert hopeless.store.held([hopeless.gone.id, hopeless.other.id]) == {hopeless.gone.id, hopeless.other.id}
    with capture_logs() as told:
        hopeless.sweep()
    assert [line["match"] for line in told if line["event"] == "match.set_aside"] == [hopeless.gone.id]
    assert hopeless.gone.id not in hopeless.store.live_ids()
    assert ArenaInspection(hopeless.client).set_aside() == [hopeless.gone.id]
    assert ArenaInspection(hopeless.client).troubles() == {}
    assert hopeless.store.held([hopeless.gone.id, hopeless.other.id]) == {hopeless.other.id}
    assert hopeless.client.exists(keys.match_aside(hopeless.gone.id)), "somebody may want to look at it"


def test_its_bots_may_play_on_when_it_is_set_aside(night: Night) -> None:
    """A bot is sent to its empty seat first, and would be for a day."""
    away = night.store.load(night.gone.id)
    conductor = Conductor(night.all_games, night.store, now_s=lambda: night.now_s)
    conductor.conduct(away, Left("ada", "n1/1.1", False, at_s=night.now_s))
    assert night.client.exists(keys.empty_seats("ada"))
    night.remove_the_game()
    for _ in range(int(GIVEN_UP_S / BETWEEN_S) + 2):
        night.sweep()
    assert ArenaInspection(night.client).set_aside() == [night.gone.id]
    assert not night.client.exists(keys.empty_seats("ada"))


def test_a_mistake_of_our_own_sets_no_match_aside(night: Night, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is mended some day, and the match goes on."""
    real = night.store.load

    def load(match_id: str) -> Match:
        if match_id == night.gone.id:
            raise ZeroDivisionError
        return real(match_id)

    monkeypatch.setattr(night.store, "load", load)
    for _ in range(int(2 * GIVEN_UP_S / BETWEEN_S)):
        night.sweep()
    assert list(ArenaInspection(night.client).troubles()) == [night.gone.id]
    assert ArenaInspection(night.client).set_aside() == []
    assert night.store.load(night.other.id).nudges > 1


def test_a_dead_node_is_swept_up_all_the_same(hopeless: Night) -> None:
    """The seats there of other matches are emptied, and the node is forgotten."""
    for seconds in range(30):
        Heartbeats(hopeless.client).send("n2", hopeless.now_s + seconds, first=False)
    Heartbeats(hopeless.client).send("n1", hopeless.now_s, first=False)
    hopeless.now_s += 30
    hopeless.sweeper.sweep()
    assert [seat.place for seat in hopeless.store.load(hopeless.other.id).seats] == [None, "n2/2.1"]
    assert Heartbeats(hopeless.client).all().keys() == {"n2"}


def test_a_sweep_that_redis_breaks_off_was_not_made(night: Night, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is put off, and nothing is noted of any match."""

    def load(match_id: str) -> Match:
        raise Unavailable("Redis does not answer now.")

    monkeypatch.setattr(night.store, "load", load)
    with pytest.raises(Unavailable):
        night.sweep()
    assert ArenaInspection(night.client).troubles() == {}
    with pytest.raises(Unavailable, match="No sweep has been made lately"):
        ArenaInspection(night.client).check_sweep()
