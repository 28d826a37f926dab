"""A bot's pass_hash is changed: what nodes that remember the old one make of it. Over real stores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from datetime import timedelta

import pytest
import redis
from cluster import wait_for

from battlebot.arena.names import renewals as module
from battlebot.arena.names.copies import AT_ONCE, Copies
from battlebot.arena.names.directory import Directory, renewed
from battlebot.arena.names.renewals import LOOKED_AT, Renewals
from battlebot.config import Settings
from battlebot.errors import LoginFailed, SettingError, Unavailable, UnknownBot
from battlebot.runtime import cooperative, sharedtime
from battlebot.storage import Storage
from battlebot.storage.vault import Vault
from battlebot.wire.login import Login, login_hash, new_secret

GAME, SALT = "numberwang", "salt"
VAULT = Vault("a key of this test")


def node(storage: Storage, client: redis.Redis, vault: Vault = VAULT) -> Directory:
    """The directory of another node."""
    return Directory(storage, vault, lambda bot_id: (), Copies(client), hold_s=0.1)


def lets_in(directory: Directory, bot: str, pass_hash: str) -> bool:
    """Whether the node takes a login, and the owner's password."""
    login = Login(game=GAME, bot_id=bot, login_hash=login_hash(pass_hash, SALT))
    taken = []
    for check in (lambda: directory.check(login, SALT), lambda: directory.check_owner(GAME, bot, pass_hash)):
        try:
            check()
            taken.append(True)
        except LoginFailed:
            taken.append(False)
    assert len(set(taken)) == 1
    return taken[0]


def test_every_node_takes_the_new_one_at_once_and_the_old_one_until_its_next_look(
    storage: Storage, client: redis.Redis
) -> None:
    """The one at which it was changed takes it no more; the look tells whom it has to turn out."""
    here, there = node(storage, client), node(storage, client)
    told: list[Mapping[str, str]] = []
    renewals = Renewals(storage.bots, there, Copies(client), lambda known, as_of_s: told.append(known))
    old, new = here.register(GAME, "ada", "me"), new_secret()
    assert lets_in(here, "ada", old)
    assert lets_in(there, "ada", old)
    here.renew("ada", new, old)
    assert not lets_in(here, "ada", old)
    assert lets_in(there, "ada", old)
    assert lets_in(there, "ada", new)
    for _ in range(LOOKED_AT):
        renewals.tick()
    assert not lets_in(there, "ada", old)
    assert lets_in(there, "ada", new)
    assert told == [{"ada": new}]


@pytest.fixture
def away(settings: Settings) -> Iterator[Storage]:
    """A MongoDB that does not answer."""
    with closing(Storage(replace(settings, mongodb_uri="mongodb://127.0.0.1:1/"), answer_within_s=0.2)) as storage:
        yield storage


def test_while_mongodb_is_away_the_old_one_is_wrong_as_well(
    storage: Storage, client: redis.Redis, away: Storage
) -> None:
    """The copies in Redis, by which logins are checked then, are changed by the look."""
    here = node(storage, client)
    old, new = here.register(GAME, "ada", "me"), new_secret()
    assert lets_in(here, "ada", old)
    here.renew("ada", new, old)
    renewals = Renewals(storage.bots, here, Copies(client), lambda *_: None)
    there = node(away, client)

    def is_known() -> bool:
        # the copy of the earlier login may be made after the look's: the next one replaces it
        for _ in range(LOOKED_AT):
            renewals.tick()
        with suppress(Unavailable):
            return lets_in(there, "ada", new)
        return False

    wait_for(is_known, "the new one to be right without MongoDB")
    with pytest.raises(Unavailable):
        lets_in(there, "ada", old)


def test_while_mongodb_is_away_nobody_is_refused_by_a_copy_from_before(
    storage: Storage, client: redis.Redis, away: Storage
) -> None:
    """An original client that is told `failed` does not come back."""
    here, there = node(storage, client), node(away, client)
    old, new = here.register(GAME, "ada", "me"), new_secret()
    assert lets_in(here, "ada", old)
    wait_for(lambda: Copies(client).of(["ada"]) != [None], "the copy")
    renewed(storage.bots, VAULT, "ada", new)
    with pytest.raises(Unavailable):
        lets_in(there, "ada", new)
    assert lets_in(there, "ada", old)
    with pytest.raises(Unavailable):
        lets_in(there, "ada", new)


def test_mongodb_may_be_gone_as_soon_as_an_owner_has_changed_it(
    storage: Storage, client: redis.Redis, away: Storage
) -> None:
    """Before any node has looked."""
    here = node(storage, client)
    old, new = here.register(GAME, "ada", "me"), new_secret()
    here.renew("ada", new, old)
    wait_for(lambda: Copies(client).of(["ada"]) != [None], "the copy")
    assert lets_in(node(away, client), "ada", new)
    with pytest.raises(Unavailable):
        lets_in(node(away, client), "ada", old)


def test_what_a_node_could_not_look_at_it_learns_later(
    storage: Storage, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long MongoDB, or Redis, with whose heartbeat the ticks end, was away from it."""
    here, there = node(storage, client), node(storage, client)
    told: list[Mapping[str, str]] = []
    answers = [Unavailable("Redis does not answer now."), None]

    def turn_out(known: Mapping[str, str], as_of_s: float) -> None:
        told.append(known)
        if error := answers.pop(0):
            raise error

    renewals = Renewals(storage.bots, there, Copies(client), turn_out)
    old, new = here.register(GAME, "ada", "me"), new_secret()
    assert lets_in(there, "ada", old)
    for _ in range(LOOKED_AT):
        renewals.tick()
    here.renew("ada", new, old)
    for away_h in (1, 2):
        moment = sharedtime.now() + timedelta(hours=away_h)
        monkeypatch.setattr(module.sharedtime, "now", lambda moment=moment: moment)
        with suppress(Unavailable):
            for _ in range(LOOKED_AT):
                renewals.tick()
        assert not lets_in(there, "ada", old)
    assert told == [{"ada": new}] * 2


def test_a_node_that_starts_learns_what_none_could_copy(
    storage: Storage, client: redis.Redis, away: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server was stopped as it was changed, and MongoDB was away as it was started again."""
    here = node(storage, client)
    old, new = here.register(GAME, "ada", "me"), new_secret()
    assert lets_in(here, "ada", old)
    wait_for(lambda: Copies(client).of(["ada"]) != [None], "the copy")
    looks = Renewals(storage.bots, here, Copies(client), lambda *_: None)
    for _ in range(LOOKED_AT):
        looks.tick()
    renewed(storage.bots, VAULT, "ada", new)
    moment = sharedtime.now() + timedelta(hours=1)
    monkeypatch.setattr(module.sharedtime, "now", lambda: moment)
    started = node(away, client)
    assert lets_in(started, "ada", old)
    told: list[Mapping[str, str]] = []
    renewals = Renewals(storage.bots, started, Copies(client), lambda known, as_of_s: told.append(known))
    for _ in range(LOOKED_AT):
        renewals.tick()
    assert told == [{"ada": new}]


def test_others_run_while_a_node_learns_of_many(
    storage: Storage, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has registered thousands of bots may change them all, every few seconds."""
    turns: list[None] = []
    monkeypatch.setattr(cooperative, "MOST_S", 0.0)
    monkeypatch.setattr(cooperative, "in_turn", lambda: turns.append(None))
    sealed = VAULT.seal("1" * 64)
    rows = [{"_id": f"bot{number}", "game": GAME, "sealed_pass_hash": sealed} for number in range(3 * AT_ONCE)]
    assert len(node(storage, client).learn(rows)) == len(rows)
    Copies(client).keep(rows)
    assert len(turns) == len(rows) + 3
    assert None not in Copies(client).of([str(row["_id"]) for row in rows])


def test_only_who_knows_the_old_one_may_change_it(storage: Storage, client: redis.Redis) -> None:
    """The operator may as well, for a bot that there is, by the key with which it was sealed."""
    here = node(storage, client)
    old, new = here.register(GAME, "ada", "me"), new_secret()
    with pytest.raises(LoginFailed):
        here.renew("ada", new, new_secret())
    with pytest.raises(Unavailable):
        node(storage, client, Vault("another key of this test")).renew("ada", new, old)
    with pytest.raises(SettingError):
        renewed(storage.bots, Vault("another key of this test"), "ada", new)
    with pytest.raises(UnknownBot):
        renewed(storage.bots, VAULT, "bob", new)
    assert lets_in(here, "ada", old)
    renewed(storage.bots, VAULT, "ada", new)
    assert lets_in(node(storage, client), "ada", new)
    assert storage.bots.find("bob") is None


def test_of_two_changes_at_one_moment_one_is_refused(
    storage: Storage, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else both would be told that theirs is right."""
    here, found = node(storage, client), storage.bots.find
    old, first, second = here.register(GAME, "ada", "me"), new_secret(), new_secret()

    def overtaken(bot_id: str) -> object:
        row = found(bot_id)
        monkeypatch.undo()
        here.renew("ada", first, old)
        return row

    monkeypatch.setattr(storage.bots, "find", overtaken)
    with pytest.raises(LoginFailed):
        here.renew("ada", second, old)
    assert lets_in(here, "ada", first)
    assert not lets_in(here, "ada", second)
