"""The private mongod: a replica set of one node, on a unix socket only. How it is started, and when it is primary."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from battlebot.embedded.find import find_libcurl, find_mongod
from battlebot.embedded.folder import DataFolder
from battlebot.embedded.loading import runs
from battlebot.embedded.process import Child, Program

_SET = "battlebot"
_READY_S = 60.0


def mongod_socket(folder: DataFolder) -> Path:
    """Where the embedded mongod of `folder` listens. It is its name in the replica set as well."""
    return folder.sockets / "mongod.sock"


def mongod_uri(folder: DataFolder) -> str:
    """The address of the embedded mongod, as pymongo and `MONGODB_URI` have it."""
    return f"mongodb://{quote(str(mongod_socket(folder)), safe='')}/?directConnection=true"


def mongod_program(folder: DataFolder) -> Program:
    """How to start it. It has no passwords, hence no TCP port: only who may enter the socket's folder may connect."""
    options = {
        "dbpath": str(folder.path / "mongod"),
        "bind_ip": str(mongod_socket(folder)),
        "replSet": _SET,
        "oplogSize": "64",
        "wiredTigerCacheSizeGB": "0.25",
        "setParameter": "diagnosticDataCollectionEnabled=false",
    }
    arguments = [word for name, value in options.items() for word in (f"--{name}", value)]
    # --nounixsocket leaves out only the socket in /tmp that a second mongod would take away
    # a worker that is killed in a transaction leaves its locks for so long; ours take milliseconds
    arguments += ["--setParameter", "transactionLifetimeLimitSeconds=5"]
    mongod = find_mongod()
    return Program(
        name="mongod",
        command=[str(mongod), *arguments, "--nounixsocket", "--quiet"],
        environment=_environment(mongod, folder),
        log=folder.path / "logs" / "mongod.log",
        stop_s=10.0,
        disk=folder.path,
    )


def _environment(mongod: Path, folder: DataFolder) -> dict[str, str]:
    """Ours; where mongod does not run with what the system has, with the libcurl of a wheel.

    Small systems come without one. The embedded mongod never uses it, but does not start without it.
    """
    ours = dict(os.environ)
    libcurl = None if runs(mongod, ours) else find_libcurl()
    if libcurl is None:
        return ours
    # by the name by which mongod asks for it; what it needs itself lies beside the wheel's
    named = folder.path / "lib" / "libcurl.so.4"
    named.parent.mkdir(exist_ok=True)
    named.unlink(missing_ok=True)
    named.symlink_to(libcurl)
    return {**ours, "LD_LIBRARY_PATH": f"{named.parent}:{libcurl.parent}:{ours.get('LD_LIBRARY_PATH', '')}".rstrip(":")}


def wait_for_primary(child: Child, folder: DataFolder) -> None:
    """Return when it is the primary of its replica set, having made the set or moved it. Raises EmbeddedError.

    A moved data folder has another socket, and the set's configuration still names the old one.
    """
    import pymongo
    from pymongo.errors import PyMongoError

    host = str(mongod_socket(folder))
    configured = False

    def is_primary() -> bool:
        nonlocal configured
        try:
            # A new client each time: one that has seen the node before it joined a set offers no sessions
            client: pymongo.MongoClient[dict[str, Any]]
            with pymongo.MongoClient(mongod_uri(folder), serverSelectionTimeoutMS=500) as client:
                if not configured:
                    _configure(client, host)
                    configured = True
                return bool(client.admin.command("hello")["isWritablePrimary"])
        except PyMongoError:
            return False

    child.wait_until(is_primary, _READY_S)


def _configure(client: Any, host: str) -> None:
    """Make the set, or make it accept that its only member is at `host` now. Raises PyMongoError: try again."""
    found = client.local["system.replset"].find_one()
    if found is None:
        client.admin.command("replSetInitiate", {"_id": _SET, "members": [{"_id": 0, "host": host}]})
    elif found["members"][0]["host"] != host:
        found["members"] = [{**found["members"][0], "host": host}]
        found["version"] += 1
        client.admin.command("replSetReconfig", found, force=True)
