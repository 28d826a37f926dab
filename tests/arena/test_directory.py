"""Logins while MongoDB is away: what one node has looked up, every node knows; names in use. Over real stores."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from cluster import wait_for
from lefttocollector import left_of
from structlog.testing import capture_logs

from battlebot.arena.names import directory as directory_module
from battlebot.arena.names import lookalikes, takingback
from battlebot.arena.names.copies import Copies
from battlebot.arena.names.directory import Directory
from battlebot.arena.names.takingback import TakingBack
from battlebot.config import Settings
from battlebot.errors import DiskFull, LoginFailed, NameTaken, Unavailable
from battlebot.redisio import keys
from battlebot.runtime import cooperative
from battlebot.storage import Storage
from battlebot.storage.bots import Bots
from battlebot.storage.vault import Vault
from battlebot.wire.login import Login, login_hash

KEY = "a key of this test"
GAME = "numberwang"
SALT = "salt"


@pytest.fixture
def node(settings: Settings, client: redis.Redis) -> Iterator[Callable[..., Directory]]:
    """Returns a function that makes the directory of another node.

    `away`: it does not reach MongoDB. `used`: the names of players that are online.
    """
    with ExitStack() as stack:

        def made(away: bool = False, key: str = KEY, hold_s: float = 0.1, used: Collection[str] = ()) -> Directory:
            chosen = replace(settings, mongodb_uri="mongodb://127.0.0.1:1/") if away else settings
            storage = stack.enter_context(closing(Storage(chosen, answer_within_s=0.2 if away else 20.0)))
            return Directory(storage, Vault(key), lambda bot_id: used, Copies(client), hold_s)

        yield made


def login(bot: str, pass_hash: str, game: str = GAME) -> Login:
    """Returns the login of a bot that answers SALT."""
    return Login(game=game, bot_id=bot, login_hash=login_hash(pass_hash, SALT))


def test_a_node_without_mongodb_lets_in_whom_another_node_has_looked_up(
    node: Callable[..., Directory], client: redis.Redis
) -> None:
    """With its own password, for its own game, and nobody else: another password may be right by now."""
    known, away = node(), node(away=True)
    pass_hash = known.register(GAME, "known", "me")
    other_hash = known.register(GAME, "unknown", "me")
    with pytest.raises(Unavailable):
        away.check(login("known", pass_hash), SALT)
    known.check(login("known", pass_hash), SALT)
    wait_for(lambda: client.exists(keys.registration("known")), "the copy")
    assert client.ttl(keys.registration("known")) > 0
    away.check(login("known", pass_hash), SALT)
    with pytest.raises(LoginFailed):
        node(away=True).check(login("known", pass_hash, "connectfour"), SALT)
    with pytest.raises(Unavailable):
        node(away=True).check(login("known", other_hash), SALT)
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


def test_the_names_of_many_players_hold_up_nobody_when_a_bot_is_registered(
    node: Callable[..., Directory], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the bots that play on the node meanwhile, and not a second time: a few hundred names may take a second."""
    slow = "\ufdfa" * 62  # each of these characters stands for eighteen
    names, compared, pauses = [f"{slow}{number}" for number in range(10, 60)], list[str](), list[float]()
    compare = lookalikes.likeness
    monkeypatch.setattr(lookalikes, "likeness", lambda name: compared.append(name) or compare(name))
    clock = itertools.count(0, 2 * cooperative.MOST_S)
    # the module's own: other threads use the real one
    monkeypatch.setattr(cooperative, "time", SimpleNamespace(monotonic=lambda: next(clock), sleep=pauses.append))
    directory = node(used=names)
    directory.register(GAME, "one", "me")
    assert len(pauses) == len(names)
    directory.register(GAME, "other", "me")
    of_players = [name for name in compared if name in names]
    assert sorted(of_players) == names


def test_a_bot_may_not_look_like_any_form_of_a_players_name(node: Callable[..., Directory]) -> None:
    """Names at the TCP door may be written in ways in which no bot's may."""
    directory = node(used=["\uff21ce", "асе"])
    for name in ("Ace", "ace"):
        with pytest.raises(NameTaken):
            directory.register(GAME, name, "me")
    directory.register(GAME, "ACE", "me")


def test_a_player_who_comes_while_its_name_is_registered_keeps_it(
    node: Callable[..., Directory], storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was let in before there was a bot of that name, and played as that one. When it has left, the name is free."""
    used, register = set[str](), Bots.register
    directory, other = node(), node()
    monkeypatch.setattr(directory, "_used_names", lambda _: frozenset(used))

    def comes(*given: Any, **more: Any) -> None:
        register(*given, **more)
        used.add("new")
        with pytest.raises(LoginFailed):
            other.check(login("new", "f" * 64), SALT)

    monkeypatch.setattr(Bots, "register", comes)
    with pytest.raises(NameTaken):
        directory.register(GAME, "new", "me")
    assert storage.bots.find("new") is None
    monkeypatch.setattr(Bots, "register", register)
    used.clear()
    other.check(login("new", directory.register(GAME, "new", "me")), SALT)


@pytest.mark.parametrize("stored", ["before", "later"])
def test_a_name_whose_registration_mongodb_did_not_confirm_is_free_again(
    node: Callable[..., Directory], storage: Storage, monkeypatch: pytest.MonkeyPatch, stored: str
) -> None:
    """Nobody was told its pass_hash. It may be stored only after MongoDB has first said that it is not there."""
    register, take_back, asked = Bots.register, Bots.take_back, Event()
    given: list[tuple[Any, ...]] = []

    def unconfirmed(*row: Any, **more: Any) -> None:
        given.append(row)
        if stored == "before":
            register(*row, **more)
        raise Unavailable("MongoDB does not answer now.")

    def away_at_first(bots: Bots, *key: Any) -> bool:
        if not asked.is_set():
            asked.set()
            raise Unavailable("MongoDB does not answer now.")
        return take_back(bots, *key)

    monkeypatch.setattr(takingback, "AGAIN_S", 0.02)
    monkeypatch.setattr(Bots, "take_back", away_at_first)
    monkeypatch.setattr(Bots, "register", unconfirmed)
    directory = node()
    with pytest.raises(Unavailable):
        directory.register(GAME, "new", "me")
    monkeypatch.setattr(Bots, "register", register)
    assert asked.wait(10)
    if stored == "later":
        register(*given[0])
    wait_for(lambda: storage.bots.find("new") is None, "the name to be free")
    pass_hash = directory.register(GAME, "new", "me")
    node().check(login("new", pass_hash), SALT)


def test_a_registration_in_doubt_is_not_looked_for_for_ever(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    """If MongoDB never stores it; and while it is away, it is not given up."""
    asked = list[tuple[Any, ...]]()

    def take_back(*key: Any) -> bool:
        asked.append(key)
        if len(asked) < 3:
            raise Unavailable("MongoDB does not answer now.")
        return False

    monkeypatch.setattr(takingback, "AGAIN_S", 0.02)
    monkeypatch.setattr(takingback, "LOOKS", 2)
    monkeypatch.setattr(storage.bots, "take_back", take_back)
    taking_back = TakingBack(storage.bots)
    for number in (1, 2):
        taking_back.add("new", b"sealed")
        wait_for(lambda: not taking_back._left, "the end")
        assert asked == [("new", b"sealed")] * (2 + 2 * number)


def test_a_mistake_of_ours_ends_the_search_for_a_registration(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be made, and logged with its traceback, every five seconds for ever."""

    def take_back(*_: Any) -> bool:
        raise KeyError("a mistake")

    monkeypatch.setattr(takingback, "AGAIN_S", 0.02)
    monkeypatch.setattr(storage.bots, "take_back", take_back)
    taking_back = TakingBack(storage.bots)
    with capture_logs() as logs:
        taking_back.add("new", b"sealed")
        wait_for(lambda: not taking_back._left, "the end")
    assert [line["event"] for line in logs] == ["registration.in_doubt", "registration.not_taken_back"]


def test_a_full_disk_leaves_no_registration_in_doubt(
    node: Callable[..., Directory], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was written."""
    directory = node()

    def full(*_: Any, **__: Any) -> None:
        raise DiskFull("There is no room.")

    monkeypatch.setattr(Bots, "register", full)
    monkeypatch.setattr(TakingBack, "add", lambda *_: pytest.fail("in doubt"))
    with pytest.raises(DiskFull):
        directory.register(GAME, "new", "me")


def test_names_in_use_are_gone_through_once_for_all_who_were_given_them(
    node: Callable[..., Directory], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two hundred may register at one moment, and each would begin with a bit of its own."""
    marked = list[str]()
    monkeypatch.setattr(directory_module, "marks", lambda name: marked.append(name) or lookalikes.marks(name))
    names = frozenset({"ada", "eve"})
    directory = node(used=names)
    for number in range(3):
        directory.register(GAME, f"new{number}", "me")
    assert sorted(marked) == sorted(names)
    with pytest.raises(NameTaken):
        directory.register(GAME, "eve", "me")


def test_a_login_that_cannot_be_checked_is_not_left_to_the_collector(
    node: Callable[..., Directory], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bots that nobody has looked up try again and again while MongoDB is away, and the collector runs seldom."""

    def find_all(*_: Any) -> None:
        raise Unavailable("MongoDB does not answer now.") from ValueError()

    monkeypatch.setattr(Bots, "find_all", find_all)
    directory = node()

    def refused() -> None:
        with pytest.raises(Unavailable):
            directory.check(login("ada", "0" * 64), SALT)

    assert not left_of(Directory.check, refused)
