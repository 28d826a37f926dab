"""Transactions whose MongoDB hangs, elects a primary, or has another transaction in their way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pymongo
import pytest
from lefttocollector import left_of
from lifetimes import SLOW, short_lives
from pymongo.client_session import ClientSession
from pymongo.monitoring import (
    CommandFailedEvent,
    CommandListener,
    CommandStartedEvent,
    CommandSucceededEvent,
    register,
)
from standstill import resume, stop

from battlebot.config import Settings
from battlebot.errors import Unavailable
from battlebot.storage import Storage
from battlebot.storage.mongo import transaction

ANSWER_S = 2.0


@pytest.fixture
def hang(storage: Storage) -> Iterator[Callable[[], None]]:
    """Yields what has MongoDB answer nothing any more, until the test is over; what it began then is undone."""
    pid = storage.database.command("serverStatus")["pid"]
    yield lambda: stop(pid)
    resume(pid)
    storage.client.admin.command("killAllSessions", [])


@pytest.fixture
def count(storage: Storage) -> Callable[[ClientSession], Any]:
    """Returns the work of a transaction: it adds one to a number, and returns that."""
    storage.database["numbers"].insert_one({"_id": "n", "n": 0})

    def add(session: ClientSession) -> Any:
        numbers = session.client[storage.database.name]["numbers"]
        numbers.update_one({"_id": "n"}, {"$inc": {"n": 1}}, session=session)
        found = numbers.find_one({"_id": "n"}, session=session)
        return found and found["n"]

    return add


@pytest.mark.parametrize("at_commit", [False, True], ids=["within it", "at its commit"])
def test_a_mongodb_that_hangs_holds_nobody_up_for_longer_than_a_query_may_take(
    settings: Settings, hang: Callable[[], None], count: Callable[[ClientSession], Any], at_commit: bool
) -> None:
    """The driver by itself would try again for two minutes."""
    storage = Storage(settings, ANSWER_S)

    def work(session: ClientSession) -> None:
        count(session)
        hang()
        if not at_commit:
            count(session)

    begun_s = time.monotonic()
    with pytest.raises(Unavailable):
        transaction(storage.client, work, ANSWER_S)
    assert time.monotonic() - begun_s < 15 * ANSWER_S
    storage.close()


def test_who_meets_another_transaction_tries_again(storage: Storage, count: Callable[[ClientSession], Any]) -> None:
    """Both are made, one after the other."""
    tries = []

    def work(session: ClientSession) -> Any:
        tries.append(storage.database["numbers"].find_one({"_id": "n"}, session=session))
        if len(tries) == 1:
            transaction(storage.client, count)
        return count(session)

    assert transaction(storage.client, work) == 2
    assert [row["n"] for row in tries if row] == [0, 1]


def test_a_short_election_is_sat_out(storage: Storage, count: Callable[[ClientSession], Any]) -> None:
    """There is no primary for a second; what was made then is there."""
    tries = []

    def work(session: ClientSession) -> Any:
        answer = count(session)
        tries.append(answer)
        if len(tries) == 1:
            storage.client.admin.command("replSetStepDown", 1, force=True)
        return answer

    assert transaction(storage.client, work) == 1
    assert len(tries) > 1
    found = storage.database["numbers"].find_one({"_id": "n"})
    assert found is not None
    assert found["n"] == 1


def test_a_transaction_that_mongodb_ends_as_it_takes_too_long_is_made_another_time(
    storage: Storage, count: Callable[[ClientSession], Any]
) -> None:
    """On a slow disk: by MongoDB's code for it, which has no label, a match would be set aside that can be stored."""

    def work(session: ClientSession) -> None:
        count(session)
        storage.database["numbers"].find_one(SLOW, session=session)

    with short_lives(storage), pytest.raises(Unavailable):
        transaction(storage.client, work)
    assert transaction(storage.client, count) == 1


class _Commits(CommandListener):
    """Notes with which write concern transactions are committed."""

    def __init__(self) -> None:
        self.concerns: list[Any] = []

    def started(self, event: CommandStartedEvent) -> None:
        """Notes one."""
        if event.command_name == "commitTransaction":
            self.concerns.append(event.command.get("writeConcern"))

    def succeeded(self, event: CommandSucceededEvent) -> None:
        """Of no interest."""

    def failed(self, event: CommandFailedEvent) -> None:
        """Of no interest."""


def test_a_commit_outlives_an_election_whatever_the_address_says(
    settings: Settings, count: Callable[[ClientSession], Any]
) -> None:
    """A transaction has the write concern of the client, of which MONGODB_URI says what it likes."""
    commits = _Commits()
    register(commits)
    uri = settings.mongodb_uri
    storage = Storage(replace(settings, mongodb_uri=f"{uri}{'&' if '?' in uri else '?'}w=1&journal=false"))
    try:
        assert transaction(storage.client, count) == 1
    finally:
        storage.close()
    assert commits.concerns == [{"w": "majority", "j": True}]


def test_what_mongodb_does_not_store_is_not_left_to_the_collector(settings: Settings) -> None:
    """It runs seldom in a worker, and while MongoDB is away each attempt holds all matches of a batch."""
    away = Storage(replace(settings, mongodb_uri="mongodb://127.0.0.1:1/"), answer_within_s=0.2)

    def store() -> None:
        with pytest.raises(Unavailable), pymongo.timeout(0.2):
            away.archive.store([{"_id": "0", "turns": [], "match": {}}])

    assert not left_of(type(away.archive).store, store)
    away.close()
