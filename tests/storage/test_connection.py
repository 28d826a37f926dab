"""The connection to a MongoDB that is only starting."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pymongo
import pytest
from cluster import LIMIT_S, wait_for
from pymongo import ReadPreference
from pymongo.errors import BulkWriteError
from pymongo.monitoring import (
    CommandFailedEvent,
    CommandListener,
    CommandStartedEvent,
    CommandSucceededEvent,
    register,
)
from records import won
from standstill import stop

from battlebot.config import Settings, load_settings
from battlebot.embedded.folder import DataFolder
from battlebot.embedded.mongod import mongod_program, mongod_uri, wait_for_primary
from battlebot.embedded.process import Child
from battlebot.errors import Unavailable
from battlebot.storage import Storage
from battlebot.storage.mongo import PASSING_CODES, SNAPSHOT_CODES, UNCONFIRMED_CODES, mongo_errors

# one of many documents, one of an index, and several in one request
WRITES: Sequence[tuple[str, Callable[[Storage], object]]] = (
    ("update", lambda storage: storage.voids.stopped(["a match"])),
    ("createIndexes", lambda storage: storage.ensure_indexes()),
    ("update", lambda storage: storage.standings.enter([("numberwang", "cup", "bot")])),
    ("update", lambda storage: storage.players.were_online([("bot", 1, 2.0)])),
)


def test_connections_made_before_mongod_knew_its_replica_set_are_given_up(tmp_path: Path) -> None:
    """They take no sessions as long as they live: transactions fail once, as unavailable, and work then."""
    folder = DataFolder(tmp_path)
    child = Child(mongod_program(folder))
    settings = replace(load_settings({}, None), mongodb_uri=mongod_uri(folder.sockets))
    storage = Storage(settings)
    try:
        wait_for(lambda: _answers(settings.mongodb_uri), "a mongod that belongs to no set yet")
        with pytest.raises(Unavailable):
            storage.ping()  # it is no primary yet; the connection is kept
        wait_for_primary(child, folder)
        assert storage.bots.find("nobody") is None
        with pytest.raises(Unavailable):
            storage.archive.store([])
        assert storage.archive.store([]) == []
    finally:
        storage.close()
        child.stop()
        folder.close()


def test_a_query_that_waits_is_told_in_our_words_that_mongod_hangs(tmp_path: Path) -> None:
    """The driver's monitor finds that out first, and cuts the query off by an error of a private kind."""
    folder = DataFolder(tmp_path)
    child = Child(mongod_program(folder))
    wait_for_primary(child, folder)
    uri = f"{mongod_uri(folder.sockets)}&heartbeatFrequencyMS=500"
    storage = Storage(replace(load_settings({}, None), mongodb_uri=uri), 1.0)
    try:
        storage.ping()
        stop(child.pid)
        with pytest.raises(Unavailable, match=r"^MongoDB does not answer now \(it hangs\)\.$"):
            storage.ping(LIMIT_S)
    finally:
        storage.close()
        child.kill()
        folder.close()


def _answers(uri: str) -> bool:
    client: pymongo.MongoClient[dict[str, object]]
    with pymongo.MongoClient(uri, serverSelectionTimeoutMS=500) as client:
        try:
            return bool(client.admin.command("hello"))
        except pymongo.errors.PyMongoError:
            return False


def test_a_mongod_that_is_restarted_as_a_contest_is_read_has_been_away(tmp_path: Path) -> None:
    """It knows nothing of what had been begun before."""
    folder = DataFolder(tmp_path)
    child = Child(mongod_program(folder))
    storage = Storage(replace(load_settings({}, None), mongodb_uri=mongod_uri(folder.sockets)))
    try:
        wait_for_primary(child, folder)
        rows = [won(contest="cup", match_id=f"{number:024x}", seq=number) for number in range(200)]
        storage.database["games"].insert_many(rows)
        read = storage.games.each_of_contest("numberwang", "cup", turns=True)
        next(read)
        child.stop()
        child = Child(mongod_program(folder))
        wait_for_primary(child, folder)
        assert storage.bots.find("nobody") is None
        with pytest.raises(Unavailable):
            list(read)
    finally:
        storage.close()
        child.stop()
        folder.close()


def test_a_primary_that_cannot_be_read_yet_has_been_away(tmp_path: Path) -> None:
    """Or one that a mongos does not find: else each match that ends would be set aside as one that cannot be stored."""
    folder = DataFolder(tmp_path)
    program = mongod_program(folder)
    child = Child(replace(program, command=[*program.command, "--setParameter", "enableTestCommands=1"]))
    uri = mongod_uri(folder.sockets)
    storage = Storage(replace(load_settings({}, None), mongodb_uri=uri))
    try:
        wait_for_primary(child, folder)
        with pymongo.MongoClient(uri) as client:
            for code in PASSING_CODES:
                fails = {"failCommands": ["find"], "errorCode": code}
                client.admin.command("configureFailPoint", "failCommand", mode={"times": 1}, data=fails)
                with pytest.raises(Unavailable):
                    storage.archive.store([won()])
            for code in SNAPSHOT_CODES:
                fails = {"failCommands": ["find"], "errorCode": code}
                client.admin.command("configureFailPoint", "failCommand", mode={"times": 1}, data=fails)
                with pytest.raises(Unavailable):
                    storage.ledger.recount("numberwang", "cup")
        assert storage.archive.store([won()]) == [won()["_id"]]
    finally:
        storage.close()
        child.stop()
        folder.close()


def test_a_primary_that_stops_in_the_middle_of_a_write_has_been_away(tmp_path: Path) -> None:
    """It says so in words of its own where the driver does not repeat the write."""
    folder = DataFolder(tmp_path)
    program = mongod_program(folder)
    child = Child(replace(program, command=[*program.command, "--setParameter", "enableTestCommands=1"]))
    uri = mongod_uri(folder.sockets)
    settings = replace(load_settings({}, None), mongodb_uri=uri)
    try:
        wait_for_primary(child, folder)
        with pymongo.MongoClient(uri) as client:
            for code, (command, write) in zip(sorted(UNCONFIRMED_CODES), WRITES, strict=True):
                storage = Storage(settings)
                # with its labels the driver would repeat some of these writes, once
                stops = {"writeConcernError": {"code": code, "errmsg": "stops"}, "errorLabels": []}
                fails = {"failCommands": [command], **stops}
                client.admin.command("configureFailPoint", "failCommand", mode={"times": 1}, data=fails)
                with pytest.raises(Unavailable):
                    write(storage)
                # the driver would look for the primary for seconds
                storage.close()
    finally:
        child.stop()
        folder.close()


def test_a_mongod_in_no_replica_set_is_of_no_use(tmp_path: Path) -> None:
    """It takes reads and writes, but no transactions, so that no match could be archived."""
    folder = DataFolder(tmp_path)
    program = mongod_program(folder)
    at = program.command.index("--replSet")
    child = Child(replace(program, command=program.command[:at] + program.command[at + 2 :]))
    settings = replace(load_settings({}, None), mongodb_uri=mongod_uri(folder.sockets))
    storage = Storage(settings)
    try:
        wait_for(lambda: _answers(settings.mongodb_uri), "the mongod")
        storage.database["bots"].insert_one({"_id": "written"})
        with pytest.raises(Unavailable, match="MongoDB is in no replica set"):
            storage.ping()
    finally:
        storage.close()
        child.stop()
        folder.close()


def test_a_replica_set_that_is_not_set_up_says_what_to_do(tmp_path: Path) -> None:
    """One that nobody has initiated, and one of another name than the URI's."""
    folder = DataFolder(tmp_path)
    child = Child(mongod_program(folder))
    uri = mongod_uri(folder.sockets).replace("directConnection=true", "replicaSet={}")
    assert "replicaSet" in uri
    try:
        wait_for(lambda: _answers(mongod_uri(folder.sockets)), "the mongod")
        assert _complaint(uri.format("rs0")) == "MongoDB is in no replica set yet: run rs.initiate() on it once."
        wait_for_primary(child, folder)
        wrong = "The replicaSet of MONGODB_URI is not the name of MongoDB's replica set."
        assert _complaint(uri.format("others")) == wrong
    finally:
        child.stop()
        folder.close()


def test_who_still_asks_when_the_process_ends_finds_nobody(settings: Settings) -> None:
    """Work in the background may outlive the connections by a moment."""
    storage = Storage(settings)
    storage.close()
    with pytest.raises(Unavailable):
        storage.bots.find("ada")


def test_why_nothing_answers_is_told() -> None:
    """Another host or port to be named is not the same as a server to be started."""
    told = _complaint("mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=500")
    assert told == "MongoDB does not answer now (Connection refused)."


def test_what_a_write_that_failed_was_to_write_is_not_told() -> None:
    """A turn may quote a system's error."""
    row = {"turns": [{"note": "[Errno 5] in a bot's words"}]}
    failed = {"index": 0, "code": min(UNCONFIRMED_CODES), "errmsg": "stops", "op": row}
    with pytest.raises(Unavailable) as told, mongo_errors():
        raise BulkWriteError({"writeErrors": [failed], "writeConcernErrors": []})
    assert str(told.value) == "MongoDB does not answer now (BulkWriteError)."


def test_one_that_speaks_no_tls_is_told() -> None:
    """What comes first is no answer to a TLS hello."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            with suppress(OSError):  # the listener has been shut down
                while True:
                    with listener.accept()[0] as connection:
                        connection.sendall(bytes(16))
                        connection.recv(1)

        server = Thread(target=answer)
        server.start()
        told = _complaint(f"mongodb://127.0.0.1:{listener.getsockname()[1]}/?tls=true&serverSelectionTimeoutMS=500")
        listener.shutdown(socket.SHUT_RDWR)
        server.join()
    assert told == "MongoDB does not answer now (wrong version number)."


def _complaint(uri: str) -> str:
    storage = Storage(replace(load_settings({}, None), mongodb_uri=uri))
    try:
        with pytest.raises(Unavailable) as told:
            storage.ping()
        return str(told.value)
    finally:
        storage.close()


class _Builds(CommandListener):
    """Notes the commands that create indexes."""

    def __init__(self) -> None:
        self.seen: list[Mapping[str, Any]] = []

    def started(self, event: CommandStartedEvent) -> None:
        """Notes one."""
        if event.command_name == "createIndexes":
            self.seen.append(event.command)

    def succeeded(self, event: CommandSucceededEvent) -> None:
        """Of no interest."""

    def failed(self, event: CommandFailedEvent) -> None:
        """Of no interest."""


def test_an_index_does_not_wait_for_a_member_that_is_away_and_may_take_long(settings: Settings) -> None:
    """By default MongoDB waits for all members that vote, and whatever needs the index waits with it."""
    builds = _Builds()
    register(builds)
    storage = Storage(settings)
    try:
        storage.ensure_indexes()
    finally:
        storage.close()
    assert {build["commitQuorum"] for build in builds.seen} == {"majority"}
    # for an index that takes longer it would be given up, and begun anew at each start and at each task
    assert not any("maxTimeMS" in build for build in builds.seen)


@pytest.mark.parametrize(
    "option", ["readPreference=primaryPreferred", "readPreference=secondary", "readConcernLevel=linearizable", "w=0"]
)
def test_where_and_how_is_read_and_written_is_not_the_uris_to_say(settings: Settings, option: str) -> None:
    """The driver does no transaction with these, and without one no match would be archived."""
    storage = Storage(replace(settings, mongodb_uri=f"{settings.mongodb_uri}&{option}"))
    try:
        assert storage.archive.store([]) == []
        assert storage.database.read_preference == ReadPreference.PRIMARY
    finally:
        storage.close()
