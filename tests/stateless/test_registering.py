"""What owners ask of stateless bots, in this process: what a store that goes away leaves of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from httpbots import Bots
from records import GAMES

from battlebot.api.concurrency import ConcurrencyLimit
from battlebot.arena.live.queue import Queues
from battlebot.arena.names.copies import Copies
from battlebot.arena.names.directory import Directory
from battlebot.arena.names.presence import Presence
from battlebot.config import Settings
from battlebot.errors import BadAddress, NameTaken, Refused, Unavailable
from battlebot.redisio.connection import connect
from battlebot.stateless.health import Health
from battlebot.stateless.kinds import make_askers
from battlebot.stateless.registering import StatelessBots
from battlebot.stateless.trial import Trial
from battlebot.storage import Storage
from battlebot.storage.vault import Vault


@pytest.fixture
def directory(settings: Settings, storage: Storage) -> Iterator[Directory]:
    """Keeps the names and their credentials."""
    client = connect(settings.redis_url)
    used_names = partial(Presence(client).used_names, settings.node_timeout_s)
    yield Directory(storage, Vault("0123456789abcdef"), used_names, Copies(client))
    client.close()


@pytest.fixture
def limit() -> ConcurrencyLimit:
    """One place for tests, for which nobody waits."""
    return ConcurrencyLimit(most=1, wait_s=0.0)


@pytest.fixture
def owners(
    settings: Settings, storage: Storage, directory: Directory, limit: ConcurrencyLimit
) -> Iterator[StatelessBots]:
    """What is done for owners."""
    client = connect(settings.redis_url)
    trial = Trial(GAMES, settings, make_askers(replace(settings, bot_loopback=True), keeps=False))
    place = partial(limit.place, "owner")
    yield StatelessBots(storage, directory, trial, Health(client), Queues(client), place)
    client.close()


def test_whoever_is_registered_is_told_its_password_though_mongodb_goes_away(
    owners: StatelessBots, directory: Directory, storage: Storage, bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is given out once: with an error instead, its owner could have neither the bot nor another of its name."""

    def away(*_: object) -> None:
        raise Unavailable("MongoDB does not answer now.")

    monkeypatch.setattr(storage.bots, "change", away)
    pass_hash = owners.register("numberwang", "url-bot", "owner", bots.url("counting"), True)
    directory.check_owner("numberwang", "url-bot", pass_hash)
    shown = owners.show("numberwang", "url-bot")
    assert (shown["state"], shown["lastTest"]["ok"]) == ("ready", True)


@pytest.mark.parametrize("available", [None, True, False])
def test_a_bot_that_connects_may_be_given_a_url(
    available: bool | None, owners: StatelessBots, directory: Directory, storage: Storage, bots: Bots
) -> None:
    """It is asked there from then on, unless its owner says otherwise."""
    directory.register("numberwang", "moved", "owner")
    with pytest.raises(Refused):
        owners.change("numberwang", "moved", {"url": None, "available": True})
    shown = owners.change("numberwang", "moved", {"url": bots.url("counting"), "available": available})
    assert (shown["state"], shown["lastTest"]["ok"]) == ("off" if available is False else "ready", True)
    [row] = storage.bots.stateless()
    assert row["available"] is (available is not False)


def test_what_can_be_refused_without_a_test_request_is(owners: StatelessBots, bots: Bots) -> None:
    """A name that is taken, an address that may not be asked: also of a bot that has another."""
    owners.register("numberwang", "url-bot", "owner", bots.url("counting"), True)
    with pytest.raises(NameTaken):
        owners.register("numberwang", "url-bot", "owner", bots.url("counting"), True)
    with pytest.raises(BadAddress):
        owners.register("numberwang", "other", "owner", "http://10.0.0.1/", True)
    with pytest.raises(BadAddress):
        owners.change("numberwang", "url-bot", {"url": "http://10.0.0.1/"})
    assert bots.asked["counting"] == 1


@pytest.mark.parametrize(
    ("available", "behaviour", "moves"), [(True, "counting", False), (None, "counting/again", True)]
)
def test_it_is_kept_when_a_bot_began_to_be_asked_at_its_url(
    available: bool | None, behaviour: str, moves: bool, owners: StatelessBots, storage: Storage, bots: Bots
) -> None:
    """By a change: being registered with it is none."""
    changes = {"url": bots.url(behaviour), "available": available}
    owners.register("numberwang", "url-bot", "owner", bots.url("counting"), True)
    before = datetime.now(UTC) - timedelta(seconds=1)
    owners.change("numberwang", "url-bot", changes)
    assert storage.bots.moved(["url-bot"], before) == ({"url-bot"} if moves else set())
    assert storage.bots.moved(["url-bot"], datetime.now(UTC)) == set()
    owners.change("numberwang", "url-bot", {"available": False})
    owners.change("numberwang", "url-bot", {"available": True})
    assert storage.bots.moved(["url-bot"], before) == {"url-bot"}


def test_only_a_test_needs_a_place(owners: StatelessBots, limit: ConcurrencyLimit, bots: Bots) -> None:
    """Slow bots that have all places keep no other change from being made; who comes when one is free is tested."""
    register = partial(owners.register, "battlecube", owner="owner", available=True)
    register(bot_id="other", url=bots.url("good"))
    with limit.place("somebody"):
        with pytest.raises(Unavailable):
            register(bot_id="quick", url=bots.url("good"))
        with pytest.raises(Unavailable):
            owners.test("battlecube", "other")
        with pytest.raises(NameTaken):
            register(bot_id="other", url=bots.url("good"))
        assert owners.change("battlecube", "other", {"available": False})["state"] == "off"
    assert bots.asked["good"] == 1
    register(bot_id="quick", url=bots.url("good"))


def test_an_owners_test_is_kept_and_ends_a_pause_if_it_is_passed(
    owners: StatelessBots, directory: Directory, settings: Settings, bots: Bots
) -> None:
    """A bot that connects has nothing to test."""
    url, client = bots.url("counting"), connect(settings.redis_url)
    owners.register("numberwang", "url-bot", "owner", url, True)
    Health(client).pause(url)
    client.close()
    assert owners.show("numberwang", "url-bot")["state"] == "paused"
    result = owners.test("numberwang", "url-bot")
    shown = owners.show("numberwang", "url-bot")
    assert (shown["state"], shown["lastTest"]) == ("ready", result)
    directory.register("numberwang", "connecting", "owner")
    with pytest.raises(Refused):
        owners.test("numberwang", "connecting")


def test_a_test_that_ends_after_a_change_of_the_url_is_not_the_last_one(
    owners: StatelessBots, storage: Storage, bots: Bots
) -> None:
    """The owner, who made the change at another node, was shown what the old url answered beside the new one."""
    owners.register("battlecube", "url-bot", "owner", bots.url("good"), True)
    changed = {"url": bots.url("slow"), "lastTest": {"ok": True, "at": 0}}
    bots.keep = lambda _: storage.bots.change("url-bot", changed)
    assert owners.test("battlecube", "url-bot")["ok"]
    assert owners.show("battlecube", "url-bot")["lastTest"] == changed["lastTest"]
