"""A MongoDB that lets nobody in without a password, and not everybody who has one do everything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pymongo
import pytest
from cluster import wait_for
from dns.resolver import NXDOMAIN
from pymongo.errors import ConfigurationError, OperationFailure
from records import won

from battlebot.config import load_settings
from battlebot.embedded.folder import DataFolder
from battlebot.embedded.mongod import mongod_program, mongod_uri, wait_for_primary
from battlebot.embedded.process import Child
from battlebot.errors import Unavailable
from battlebot.storage import Storage
from battlebot.storage.mongo import mongo_errors

ANSWER_S = 0.5  # after a refusal the driver waits, as if there were no server, for as long as a query may take
PASSWORD = "s3cret"
USERS = {"writer": "readWrite", "reader": "read", "guest": None}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yields the address of a mongod that asks for passwords, and knows USERS."""
    folder = DataFolder(tmp_path_factory.mktemp("guarded"))
    program, uri = mongod_program(folder), mongod_uri(folder.sockets)
    open_to_all = Child(program)
    wait_for_primary(open_to_all, folder)
    with pymongo.MongoClient(uri) as client:
        for name, role in USERS.items():
            roles = [{"role": role, "db": "battlebot"}] if role else []
            client["battlebot"].command("createUser", name, pwd=PASSWORD, roles=roles)
    open_to_all.stop()
    key = folder.path / "key"
    key.write_text("a key of this test")
    key.chmod(0o600)
    child = Child(replace(program, command=[*program.command, "--auth", "--keyFile", str(key)]))
    with pymongo.MongoClient(uri) as client:
        wait_for(lambda: client.admin.command("hello")["isWritablePrimary"], "the guarded mongod")
    yield uri
    child.stop()
    folder.close()


def storage_of(uri: str, login: str) -> Storage:
    """Returns the repositories for `user:password`, or for nobody."""
    settings = load_settings({}, Path("/nowhere"))
    with_login = uri.replace("mongodb://", f"mongodb://{login}@" if login else "mongodb://")
    return Storage(replace(settings, mongodb_uri=f"{with_login}&authSource=battlebot"), ANSWER_S)


def test_who_may_read_and_write_is_let_in(guarded: str) -> None:
    """With `readWrite` on the database, as docs/operations.md asks, and nothing else."""
    with closing(storage_of(guarded, f"writer:{PASSWORD}")) as storage:
        storage.ping()
        storage.ensure_indexes()
        assert storage.room.free_mb()
        assert storage.archive.store([]) == []
        assert storage.bots.find("nobody") is None


@pytest.mark.parametrize("login", ["writer:wr0ng", f"unknown:{PASSWORD}", f"guest:{PASSWORD}", ""])
def test_who_is_not_let_in_is_told_why_at_every_query(guarded: str, login: str) -> None:
    """As of a MongoDB that is away, since it may be put right; without the password or what was to be done."""
    with closing(storage_of(guarded, login)) as storage:
        queries = [
            storage.ping,
            storage.ensure_indexes,
            storage.room.free_mb,
            lambda: storage.bots.find("nobody"),
            lambda: storage.tokens.create("somebody"),
        ]
        for query in queries:
            with pytest.raises(Unavailable, match=r"user .*of MONGODB_URI") as told:
                query()
            assert "s3cret" not in str(told.value)
            assert "wr0ng" not in str(told.value)


def test_who_may_only_read_is_told_so_at_the_first_write(guarded: str) -> None:
    """Reading works."""
    with closing(storage_of(guarded, f"reader:{PASSWORD}")) as storage:
        storage.ping()
        with pytest.raises(Unavailable, match="needs readWrite"):
            storage.tokens.create("somebody")


def test_writes_that_somebody_has_blocked_are_put_off(tmp_path: Path) -> None:
    """As while a cluster is moved: else each match that ends would be set aside as one that cannot be stored."""
    folder = DataFolder(tmp_path)
    child, uri = Child(mongod_program(folder)), mongod_uri(folder.sockets)
    try:
        wait_for_primary(child, folder)
        settings = replace(load_settings({}, None), mongodb_uri=uri)
        with pymongo.MongoClient(uri) as client, closing(Storage(settings)) as storage:
            client.admin.command("setUserWriteBlockMode", 1, **{"global": True})
            for write in (lambda: storage.archive.store([won()]), lambda: storage.tokens.create("somebody")):
                with pytest.raises(Unavailable, match="MongoDB takes no writes now"):
                    write()
            client.admin.command("setUserWriteBlockMode", 1, **{"global": False})
            assert storage.archive.store([won()]) == [won()["_id"]]
    finally:
        child.stop()
        folder.close()


def test_a_database_at_atlas_that_is_full_does_not_look_like_a_wrong_password() -> None:
    """Atlas has one code, 8000, for all that it refuses, and says the rest in words."""
    words = "you are over your space quota, using 513 MB of 512 MB"
    for refused, told in ((words, "used up"), ("bad auth : authentication failed", "password")):
        error = OperationFailure(refused, 8000, {"ok": 0, "errmsg": refused, "code": 8000, "codeName": "AtlasError"})
        with pytest.raises(Unavailable, match=told), mongo_errors():
            raise error


def test_a_disk_without_room_for_an_index_counts_as_mongodb_away() -> None:
    """MongoDB has no code of its own for it, and says it in the system's words."""
    full = "28: No space left on device"
    error = OperationFailure(full, 8, {"ok": 0, "errmsg": full, "code": 8, "codeName": "UnknownError"})
    with pytest.raises(Unavailable, match="its disk is full"), mongo_errors():
        raise error


def test_a_name_that_the_name_server_does_not_know_counts_as_mongodb_away() -> None:
    """With mongodb+srv:// the driver asks for it at the first query, and calls a wrong answer a wrong setting."""
    error = ConfigurationError("The DNS query name does not exist: _mongodb._tcp.bots.example.org.")
    error.__cause__ = NXDOMAIN()
    with pytest.raises(Unavailable, match="name server"), mongo_errors():
        raise error
