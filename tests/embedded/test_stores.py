"""The embedded Valkey and mongod, as real processes: what they keep through a kill, and how they fail."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pymongo
import pytest
import redis
from processes import command, descendants, eventually, listening
from redis.backoff import NoBackoff
from redis.retry import Retry

from battlebot.config import Settings
from battlebot.embedded.find import find_libcurl, find_mimalloc, find_valkey
from battlebot.embedded.loading import runs
from battlebot.embedded.process import Child
from battlebot.embedded.stores import Stores, embedded_stores
from battlebot.errors import EmbeddedError

Make = Callable[..., Settings]


def named(stores: Stores, name: str) -> Child:
    """The child of that name."""
    return next(child for child in stores.children if child.program.name == name)


def insert(settings: Settings, value: int) -> None:
    """Store a document in a transaction."""
    with (
        pymongo.MongoClient(settings.mongodb_uri) as client,
        client.start_session() as session,
        session.start_transaction(),
    ):
        client.test.things.insert_one({"_id": value}, session=session)


def stored(settings: Settings) -> list[int]:
    """What `insert` stored."""
    with pymongo.MongoClient(settings.mongodb_uri) as client:
        return sorted(thing["_id"] for thing in client.test.things.find())


def test_both_answer_and_neither_listens_on_a_port(make_settings: Make) -> None:
    """They have no passwords: only who may enter the sockets' folder may speak to them."""
    with embedded_stores(make_settings()) as settings:
        insert(settings, 1)
        assert redis.Redis.from_url(settings.redis_url).ping()
        assert stored(settings) == [1]
        assert [pid for pid in descendants(os.getpid()) if listening(pid)] == []
        assert len(settings.secret_key) == 64


def test_mongod_ends_by_itself_before_it_is_primary(make_settings: Make) -> None:
    """A secondary goes on serving for 15 seconds, longer than we let it: there is none that could take over."""
    stores = Stores(make_settings(redis_url="redis://127.0.0.1:1"))
    with pymongo.MongoClient(stores.settings.mongodb_uri) as client:
        client.admin.command({"replSetStepDown": 60, "force": True})
        assert client.admin.command("hello")["secondary"]
    stores.stop()
    assert named(stores, "mongod").status() == "exit status 0"


def test_given_addresses_start_nothing(make_settings: Make) -> None:
    """The key alone comes from the folder."""
    urls = {"redis_url": "redis://127.0.0.1:1", "mongodb_uri": "mongodb://127.0.0.1:1"}
    stores = Stores(make_settings(**urls))
    assert stores.children == []
    assert (stores.settings.redis_url, stores.settings.mongodb_uri) == tuple(urls.values())
    assert stores.settings.secret_key
    stores.stop()


def test_what_valkey_acknowledged_survives_its_sigkill(make_settings: Make) -> None:
    """While several clients write as fast as they can: this is what the choice of appendfsync is for."""
    settings = make_settings(mongodb_uri="mongodb://127.0.0.1:1")
    stores = Stores(settings)
    acknowledged: list[list[int]] = [[] for _ in range(4)]

    def write(position: int) -> None:
        client = redis.Redis.from_url(stores.settings.redis_url, retry=Retry(NoBackoff(), 0))
        try:
            while True:
                value = len(acknowledged[position])
                client.rpush(f"list:{position}", f"{value}:{'x' * 500}")
                acknowledged[position].append(value)
        except redis.RedisError:
            pass

    writers = [threading.Thread(target=write, args=(position,)) for position in range(4)]
    for writer in writers:
        writer.start()
    eventually(lambda: sum(map(len, acknowledged)) > 4000)
    os.kill(stores.children[0].pid, signal.SIGKILL)
    for writer in writers:
        writer.join()
    stores.stop()
    with embedded_stores(settings) as again:
        client = redis.Redis.from_url(again.redis_url)
        missing = [len(values) - client.llen(f"list:{position}") for position, values in enumerate(acknowledged)]
    assert max(missing) <= 0


def allocates() -> bool:
    """Whether the wheel's allocator can be loaded: small systems have no libatomic, and LD_PRELOAD takes no spaces."""
    return " " not in str(find_mimalloc()) and runs(find_valkey(), {**os.environ, "LD_PRELOAD": str(find_mimalloc())})


@pytest.mark.skipif(not allocates(), reason="no allocator that can be loaded")
def test_valkey_has_the_wheels_allocator(make_settings: Make) -> None:
    """With the C library's it grows slower while its memory fills."""
    with embedded_stores(make_settings(mongodb_uri="mongodb://127.0.0.1:1")) as settings:
        pid = redis.Redis.from_url(settings.redis_url).info("server")["process_id"]
        assert "/libmimalloc.so" in Path(f"/proc/{pid}/maps").read_text()


@pytest.mark.skipif(not allocates(), reason="no allocator that can be loaded")
def test_valkey_loads_what_was_asked_for_as_well(make_settings: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """An operator's own library comes after ours."""
    monkeypatch.setenv("LD_PRELOAD", "libm.so.6")
    stores = Stores(make_settings(mongodb_uri="mongodb://127.0.0.1:1"))
    environment = named(stores, "valkey").program.environment
    stores.stop()
    assert environment is not None
    assert environment["LD_PRELOAD"] == f"{find_mimalloc()}:libm.so.6"


def test_a_path_that_would_be_read_as_two_is_left_out(make_settings: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of it might name another library."""
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    monkeypatch.setattr("battlebot.embedded.valkey.find_mimalloc", lambda: Path("/my venv/libmimalloc.so"))
    stores = Stores(make_settings(mongodb_uri="mongodb://127.0.0.1:1"))
    environment = named(stores, "valkey").program.environment
    stores.stop()
    assert environment is not None
    assert "LD_PRELOAD" not in environment


@pytest.mark.skipif(sys.platform != "linux", reason="the wheel is asked for on Linux alone")
def test_valkey_runs_without_an_allocator_that_cannot_be_loaded(
    make_settings: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The wheel's needs libatomic, without which small systems come: nothing runs there with it."""
    allocator, there = tmp_path / "libmimalloc.so", find_mimalloc()
    assert there is not None
    assert b"libatomic.so.1" in there.read_bytes()
    allocator.write_bytes(there.read_bytes().replace(b"libatomic.so.1", b"nowhere.so.001"))
    monkeypatch.setattr("battlebot.embedded.valkey.find_mimalloc", lambda: allocator)
    with embedded_stores(make_settings(mongodb_uri="mongodb://127.0.0.1:1")) as settings:
        pid = redis.Redis.from_url(settings.redis_url).info("server")["process_id"]
        assert "/libmimalloc.so" not in Path(f"/proc/{pid}/maps").read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="the wheel is asked for on Linux alone")
def test_mongod_runs_with_the_wheels_libcurl(make_settings: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on small systems, which have none; also from the folder that it was begun in so before."""
    monkeypatch.setattr("battlebot.embedded.mongod.runs", lambda *_: False)
    settings = make_settings(redis_url="redis://127.0.0.1:1")
    for value in (1, 2):
        stores = Stores(settings)
        insert(stores.settings, value)
        maps = Path(f"/proc/{named(stores, 'mongod').pid}/maps").read_text()
        assert f"/{find_libcurl().name}" in maps
        assert stored(stores.settings) == list(range(1, value + 1))
        stores.stop()


def test_mongod_comes_back_after_sigkill_with_its_documents(make_settings: Make) -> None:
    """An unclean shutdown leaves its lock file and its socket behind."""
    settings = make_settings(redis_url="redis://127.0.0.1:1")
    stores = Stores(settings)
    insert(stores.settings, 1)
    named(stores, "mongod").kill()
    os.close(stores.folder._lock)  # nobody tidies up after a SIGKILL
    with embedded_stores(settings) as again:
        insert(again, 2)
        assert stored(again) == [1, 2]


def test_a_moved_data_folder_keeps_its_replica_set(make_settings: Make, tmp_path: Path) -> None:
    """The set's configuration names the socket, which has moved with the folder."""
    elsewhere = {"redis_url": "redis://127.0.0.1:1"}
    with embedded_stores(make_settings("here", **elsewhere)) as settings:
        insert(settings, 1)
    (tmp_path / "here").rename(tmp_path / "there")
    with embedded_stores(make_settings("there", **elsewhere)) as settings:
        insert(settings, 2)
        assert stored(settings) == [1, 2]


@pytest.mark.parametrize(
    ("name", "hurt", "url"),
    [
        ("mongod", "mongod/storage.bson", {"redis_url": "redis://127.0.0.1:1"}),
        ("valkey", "valkey/appendonlydir", {"mongodb_uri": "mongodb://127.0.0.1:1"}),
    ],
)
def test_a_server_that_dies_at_its_start_is_one_clear_line(
    name: str, hurt: str, url: dict[str, str], make_settings: Make
) -> None:
    """With what its log says, and where that is; nothing is left running or locked."""
    settings = make_settings(**url)
    target = settings.data / hurt
    target.parent.mkdir(parents=True)
    target.write_text("this is no database")
    for _ in range(2):
        with pytest.raises(EmbeddedError, match=rf"^{name} ended at its start \(.+\): .+logs/{name}.log") as caught:
            Stores(settings)
        assert "\n" not in str(caught.value)
    assert [pid for pid in descendants(os.getpid()) if str(settings.data) in command(pid)] == []
