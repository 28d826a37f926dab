"""Sockets that something removes while the server runs, such as a program that cleans /tmp."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable

import pymongo
import pytest
import redis
from processes import eventually
from pymongo.errors import PyMongoError
from structlog.testing import capture_logs

from battlebot.config import Settings
from battlebot.embedded.process import Child, Program
from battlebot.embedded.stores import Stores
from battlebot.embedded.supervisor import Supervisor
from battlebot.errors import EmbeddedError


def answer(settings: Settings) -> bool:
    """Whether both stores answer to one that is not connected yet, and Valkey still has what was acknowledged."""
    try:
        with (
            redis.Redis.from_url(settings.redis_url) as valkey,
            pymongo.MongoClient(settings.mongodb_uri, serverSelectionTimeoutMS=500) as mongod,
        ):
            return valkey.get("kept") == b"1" and bool(mongod.admin.command("hello")["isWritablePrimary"])
    except (redis.RedisError, PyMongoError):
        return False


def test_stores_whose_sockets_were_removed_are_there_again(make_settings: Callable[..., Settings]) -> None:
    """Those who were connected would go on, and nobody else could connect, for as long as the server runs."""
    stores = Stores(make_settings())
    supervisor = Supervisor()
    for child in stores.children:
        supervisor.adopt(child)
    try:
        with redis.Redis.from_url(stores.settings.redis_url) as valkey, capture_logs() as logs:
            valkey.set("kept", 1)
            supervisor.watch()
            eventually(lambda: all(child._seen_s is not None for child in stores.children))
            shutil.rmtree(stores.folder.sockets)
            eventually(lambda: answer(stores.settings))
        told = [entry["part"] for entry in logs if entry["event"] == "part.cut_off"]
        assert sorted(told) == ["mongod", "valkey"]
        assert stores.folder.sockets.stat().st_mode & 0o777 == 0o700
    finally:
        supervisor.stop()
        stores.stop()


def test_a_store_that_ends_has_removed_its_socket_itself(make_settings: Callable[..., Settings]) -> None:
    """mongod does so first of all, as when somebody else stops it: nothing cleans /tmp then."""
    stores = Stores(make_settings())
    supervisor, mongod = Supervisor(), stores.children[1]
    for child in stores.children:
        supervisor.adopt(child)
    try:
        with capture_logs() as logs:
            supervisor.watch()
            eventually(lambda: mongod._seen_s is not None)
            os.kill(mongod.pid, signal.SIGTERM)
            eventually(lambda: supervisor.child("mongod") is not mongod)
        assert [entry["event"] for entry in logs][:1] == ["part.died"]
    finally:
        supervisor.stop()
        stores.stop()


def test_no_store_listens_in_a_folder_that_others_may_enter(make_settings: Callable[..., Settings]) -> None:
    """Whoever has taken its name meanwhile could take the socket away."""
    folder = make_settings().data / "sockets"
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    with pytest.raises(EmbeddedError, match=r"valkey cannot be started: .*sockets is another user's"):
        Child(Program(name="valkey", command=["true"], socket=folder / "valkey.sock"))
