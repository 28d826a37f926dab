"""The private mongod, a one-member replica set on a unix socket only: how to start it, and when it is primary."""

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


def mongod_socket(sockets: Path) -> Path:
    """The socket of the embedded mongod in the folder of sockets; also its host name in the replica set."""
    return sockets / "mongod.sock"


def mongod_uri(sockets: Path) -> str:
    """The address of the embedded mongod, in the form that pymongo and `MONGODB_URI` use."""
    return f"mongodb://{quote(str(mongod_socket(sockets)), safe='')}/?directConnection=true"


def mongod_program(folder: DataFolder) -> Program:
    """How to start mongod. It has no passwords, hence no TCP port: access to the socket's folder is the only guard."""
    options = {
        "dbpath": str(folder.path / "mongod"),
        "bind_ip": str(mongod_socket(folder.sockets)),
        "replSet": _SET,
        "oplogSize": "64",
        "wiredTigerCacheSizeGB": "0.25",
        "setParameter": "diagnosticDataCollectionEnabled=false",
    }
    arguments = [word for name, value in options.items() for word in (f"--{name}", value)]
    # --nounixsocket drops only the extra socket in /tmp, which a second mongod would take over.
    # A worker killed in a transaction holds its locks for this long; our transactions take milliseconds.
    arguments += ["--setParameter", "transactionLifetimeLimitSeconds=5"]
    # Else, stopped before its election, it would wait 15 seconds for another to be elected (MongoDB 5.0 and newer).
    arguments += ["--setParameter", "shutdownTimeoutMillisForSignaledShutdown=0"]
    mongod = find_mongod()
    return Program(
        name="mongod",
        command=[str(mongod), *arguments, "--nounixsocket", "--quiet"],
        environment=_environment(mongod, folder),
        log=folder.path / "logs" / "mongod.log",
        stop_s=10.0,
        disk=folder.path,
        socket=mongod_socket(folder.sockets),
    )


def _environment(mongod: Path, folder: DataFolder) -> dict[str, str]:
    """Our environment; plus the libcurl of a wheel if mongod does not run with the system's libraries.

    Small systems lack libcurl. The embedded mongod never uses it, but does not start without it.
    """
    ours = dict(os.environ)
    libcurl = None if runs(mongod, ours) else find_libcurl()
    if libcurl is None:
        return ours
    # Linked under the name that mongod loads; the libraries that libcurl needs lie beside the wheel's file
    named = folder.path / "lib" / "libcurl.so.4"
    named.parent.mkdir(exist_ok=True)
    named.unlink(missing_ok=True)
    named.symlink_to(libcurl)
    return {**ours, "LD_LIBRARY_PATH": f"{named.parent}:{libcurl.parent}:{ours.get('LD_LIBRARY_PATH', '')}".rstrip(":")}


def wait_for_primary(child: Child, folder: DataFolder) -> None:
    """Create or reconfigure the replica set and wait until mongod is its primary. Raises EmbeddedError.

    After the data folder has moved, the set's configuration still names the old socket.
    """
    import pymongo
    from pymongo.errors import PyMongoError

    host = str(mongod_socket(folder.sockets))
    configured = False

    def is_primary() -> bool:
        nonlocal configured
        try:
            # A new client each time: one that saw the node before it joined a set offers no sessions
            client: pymongo.MongoClient[dict[str, Any]]
            with pymongo.MongoClient(mongod_uri(folder.sockets), serverSelectionTimeoutMS=500) as client:
                if not configured:
                    _configure(client, host)
                    configured = True
                return bool(client.admin.command("hello")["isWritablePrimary"])
        except PyMongoError:
            return False

    child.wait_until(is_primary, _READY_S)


def _configure(client: Any, host: str) -> None:
    """Create the set, or change the address of its only member to `host`. Raises PyMongoError: then try again."""
    found = client.local["system.replset"].find_one()
    if found is None:
        client.admin.command("replSetInitiate", {"_id": _SET, "members": [{"_id": 0, "host": host}]})
    elif found["members"][0]["host"] != host:
        found["members"] = [{**found["members"][0], "host": host}]
        found["version"] += 1
        client.admin.command("replSetReconfig", found, force=True)
