"""Private stores that can be paused, killed and restarted under running parts."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import redis
from cluster import Cluster, Web, cluster, wait_for
from partlogs import errors
from peer import Peer
from pymongo import MongoClient
from standstill import resume, standing_still

from battlebot.config import load_settings
from battlebot.embedded.mongod import wait_for_primary
from battlebot.embedded.process import Child
from battlebot.embedded.stores import Stores
from battlebot.embedded.valkey import wait_for_valkey
from battlebot.redisio.connection import connect

WAITS = {"valkey": wait_for_valkey, "mongod": wait_for_primary}
SETTINGS = {"sweep_interval_s": 0.3, "registrations_per_hour": 100_000}


class Frail:
    """The stores and the parts over them. A store that a test takes away is back for the next test."""

    def __init__(self, stores: Stores, parts: Cluster) -> None:
        self.stores, self.parts = stores, parts
        self.settings = stores.settings

    def child(self, name: str) -> Child:
        """Returns the running valkey or mongod."""
        return next(child for child in self.stores.children if child.program.name == name)

    @contextmanager
    def paused(self, name: str) -> Iterator[None]:
        """Pauses the store within the `with` block: connections stay open, nothing is answered."""
        with standing_still(self.child(name).pid):
            yield

    def resume(self, name: str) -> None:
        """Resumes a paused store early, within `paused`."""
        resume(self.child(name).pid)

    @contextmanager
    def killed(self, name: str) -> Iterator[None]:
        """Kills the store for the `with` block: connections to it are refused."""
        old = self.child(name)
        old.kill()
        try:
            yield
        finally:
            fresh = Child(old.program)
            self.stores.children[self.stores.children.index(old)] = fresh
            WAITS[name](fresh, self.stores.folder)

    @contextmanager
    def unwritable(self, name: str) -> Iterator[None]:
        """Makes Valkey refuse writes for the `with` block, by NOREPLICAS; a full disk would cause MISCONF."""
        with self._asked(name, ("CONFIG SET", "min-replicas-to-write", 1), ("CONFIG SET", "min-replicas-to-write", 0)):
            yield

    @contextmanager
    def full(self, name: str) -> Iterator[None]:
        """Makes Valkey refuse what takes memory for the `with` block, by OOM."""
        with self._asked(name, ("CONFIG SET", "maxmemory", 1), ("CONFIG SET", "maxmemory", 0)):
            yield

    @contextmanager
    def busy(self, name: str) -> Iterator[None]:
        """Keeps Valkey at somebody's script for the `with` block: it hangs, and after a second refuses by BUSY.

        By its default it would be after five seconds, all of which the script takes from the other tests.
        """
        assert name == "valkey"
        with redis.from_url(self.settings.redis_url, socket_timeout=60) as client, ThreadPoolExecutor() as pool:
            killer = client.client()  # with a connection of its own: a new one would be refused
            default_ms = killer.config_get("busy-reply-threshold")["busy-reply-threshold"]
            killer.config_set("busy-reply-threshold", 1000)
            script = pool.submit(client.eval, "while true do end", 0)
            wait_for(lambda: not _answers(self.settings.redis_url), "the script to begin")
            try:
                yield
            finally:
                killer.script_kill()
                ended = str(script.exception())  # Valkey answers the kill before, and would refuse what comes next
                killer.config_set("busy-reply-threshold", default_ms)
            assert "killed" in ended
            killer.close()

    @contextmanager
    def demoted(self, name: str) -> Iterator[None]:
        """Makes the store a replica for the `with` block, as a fail-over does.

        Valkey refuses writes by READONLY; mongod is no primary any more, and there is no other.
        """
        if name == "mongod":
            with self._stepped_down():
                yield
            return
        with self._asked(name, ("REPLICAOF", "127.0.0.1", 1), ("REPLICAOF", "NO", "ONE")):
            yield

    @contextmanager
    def _stepped_down(self) -> Iterator[None]:
        with MongoClient(self.settings.mongodb_uri, directConnection=True) as client:
            client.admin.command("replSetStepDown", 120, force=True)
            try:
                yield
            finally:
                client.admin.command("replSetFreeze", 0)

    @contextmanager
    def _asked(self, name: str, first: tuple[Any, ...], last: tuple[Any, ...]) -> Iterator[None]:
        assert name == "valkey"
        client = connect(self.settings.redis_url)
        client.execute_command(*first)
        try:
            yield
        finally:
            client.execute_command(*last)
            client.close()

    def errors(self) -> list[str]:
        """Returns what the parts have logged as an error or a traceback."""
        return errors(self.parts.logs())


@contextmanager
def frail_house(folder: Path, **changes: Any) -> Iterator[Frail]:
    """Yields stores in a folder of their own, with no parts over them yet."""
    stores = Stores(load_settings({}, None, data=folder / "data", log_format="json", **changes))
    try:
        with cluster(stores.settings, folder) as parts:
            yield Frail(stores, parts)
    finally:
        stores.stop()


def ready(web: Web) -> bool:
    """Returns whether the node says that all is well."""
    return bool(web.request("/readyz")[0] == 200)


def play_out(mover: Peer, other: Peer, turns: int = 2) -> dict[str, Any]:
    """Plays some more turns of numberwang, then wins; returns the final state."""
    for _ in range(turns):
        mover.send({"n": 0.5})
        assert mover.update()["state"] == other.update()["state"]
        mover, other = other, mover
    mover.send({"n": 100})
    final = mover.final()["state"]
    assert other.final()["state"] == final
    return dict(final)


def _answers(redis_url: str) -> bool:
    client = connect(redis_url, timeout_s=0.2)
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()
