"""Logins while MongoDB is away: what one node has looked up, every node knows. Over real stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace

import pytest
import redis
from cluster import wait_for

from battlebot.arena.names.copies import Copies
from battlebot.arena.names.directory import Directory
from battlebot.config import Settings
from battlebot.errors import LoginFailed, Unavailable
from battlebot.redisio import keys
from battlebot.storage import Storage
from battlebot.storage.vault import Vault
from battlebot.wire.login import Login, login_hash

KEY = "a key of this test"
GAME = "numberwang"
SALT = "salt"


@pytest.fixture
def node(settings: Settings, client: redis.Redis) -> Iterator[Callable[..., Directory]]:
    """Returns a function that makes the directory of another node; `away`: it does not reach MongoDB."""
    with ExitStack() as stack:

        def made(away: bool = False, key: str = KEY, hold_s: float = 0.1) -> Directory:
            used = replace(settings, mongodb_uri="mongodb://127.0.0.1:1/") if away else settings
            storage = stack.enter_context(closing(Storage(used, answer_within_s=0.2)))
            return Directory(storage, Vault(key), lambda bot_id: (), Copies(client), hold_s)

        yield made


def login(bot: str, pass_hash: str, game: str = GAME) -> Login:
    """Returns the login of a bot that answers SALT."""
    return Login(game=game, bot_id=bot, login_hash=login_hash(pass_hash, SALT))


def test_a_node_without_mongodb_lets_in_whom_another_node_has_looked_up(
    node: Callable[..., Directory], client: redis.Redis
) -> None:
    """With its own password, for its own game, and nobody else."""
    known, away = node(), node(away=True)
    pass_hash = known.register(GAME, "known", "me")
    other_hash = known.register(GAME, "unknown", "me")
    with pytest.raises(Unavailable):
        away.check(login("known", pass_hash), SALT)
    known.check(login("known", pass_hash), SALT)
    wait_for(lambda: client.exists(keys.registration("known")), "the copy")
    assert client.ttl(keys.registration("known")) > 0
    away.check(login("known", pass_hash), SALT)
    for wrong in (login("known", other_hash), login("known", pass_hash, "connectfour")):
        with pytest.raises(LoginFailed):
            node(away=True).check(wrong, SALT)
    with pytest.raises(Unavailable):
        away.check(login("unknown", other_hash), SALT)


def test_what_redis_keeps_is_sealed(node: Callable[..., Directory], client: redis.Redis) -> None:
    """Also from a node whose SECRET_KEY has been changed meanwhile: it cannot tell, and does not say that it failed."""
    known = node()
    pass_hash = known.register(GAME, "known", "me")
    known.check(login("known", pass_hash), SALT)
    wait_for(lambda: client.exists(keys.registration("known")), "the copy")
    kept = b"".join(client.get(key) for key in client.scan_iter() if client.type(key) == b"string")
    assert b"numberwang" in kept
    assert pass_hash.encode() not in kept
    with pytest.raises(Unavailable):
        node(away=True, key="another key of this test").check(login("known", pass_hash), SALT)


def test_a_node_that_does_not_know_a_bots_key_says_so_at_once(node: Callable[..., Directory]) -> None:
    """Neither is its password wrong nor is it unknown; and no waiting for MongoDB brings the key."""
    pass_hash = node().register(GAME, "known", "me")
    other = node(key="another key of this test", hold_s=1e6)
    with pytest.raises(Unavailable):
        other.check(login("known", pass_hash), SALT)
    with pytest.raises(Unavailable):
        other.check_owner(GAME, "known", pass_hash)
    with pytest.raises(LoginFailed):
        other.check(login("nobody", pass_hash), SALT)


@pytest.mark.parametrize("given", [("connectfour", "known", True), (GAME, "known", False), (GAME, "nobody", True)])
def test_only_who_has_a_bots_password_is_its_owner(
    node: Callable[..., Directory], given: tuple[str, str, bool]
) -> None:
    """Of the right game; of a bot that there is not, nobody is."""
    game, bot, has_it = given
    pass_hash = node().register(GAME, "known", "me")
    node().check_owner(GAME, "known", pass_hash)
    with pytest.raises(LoginFailed):
        node().check_owner(game, bot, pass_hash if has_it else pass_hash[::-1])
