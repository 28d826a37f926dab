"""The MongoDB for commands that work on it directly: given by its URI, already running, or started for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from battlebot.errors import EmbeddedError

if TYPE_CHECKING:
    from battlebot.config import Settings
    from battlebot.storage import Storage


@contextmanager
def open_storage(settings: Settings) -> Iterator[Storage]:
    """Open the repositories within the context: on MONGODB_URI, else on the embedded mongod of the data folder.

    If a server uses that folder, its mongod is used; else one is started for the duration of the context. Raises
    EmbeddedError if no mongod has ever used the folder, or the running server has none, SettingError for a malformed
    URI, and Unavailable at the first query.
    """
    from battlebot.storage import Storage

    with _with_mongodb(settings) as found:
        storage = Storage(found)
        try:
            yield storage
        finally:
            storage.close()


def check_mongodb_uri(settings: Settings) -> None:
    """Raise SettingError if a MONGODB_URI is given that the driver does not take. Connects to nothing."""
    if settings.mongodb_uri:
        from battlebot.storage.connection import check_uri

        check_uri(settings)


def running_stores(settings: Settings) -> Settings:
    """Settings with the addresses of both stores: those given, else those of the server that uses the data folder.

    Raises EmbeddedError if no server runs there, or it has not both stores and the address of the other is not given.
    """
    from battlebot.embedded.mongod import mongod_socket, mongod_uri
    from battlebot.embedded.valkey import valkey_socket, valkey_url

    if settings.redis_url and settings.mongodb_uri:
        return settings
    data = settings.data.expanduser().absolute()
    was_used = (data / "mongod").is_dir() or (data / "valkey").is_dir()
    sockets = _sockets_of_server(data) if was_used else None
    if sockets is None:
        raise EmbeddedError(f"No Battlebot runs over {data}: start it, or set REDIS_URL and MONGODB_URI.")
    needed = [
        (settings.redis_url, valkey_socket(sockets), "REDIS_URL"),
        (settings.mongodb_uri, mongod_socket(sockets), "MONGODB_URI"),
    ]
    # the folder may hold what stores of its own kept before the server was given others
    if missing := [variable for url, own, variable in needed if not url and not own.exists()]:
        raise EmbeddedError(
            f"The Battlebot that runs over {data} has stores elsewhere: set {' and '.join(missing)}."
            " If it is just starting, try again."
        )
    return replace(
        settings,
        redis_url=settings.redis_url or valkey_url(sockets),
        mongodb_uri=settings.mongodb_uri or mongod_uri(sockets),
    )


@contextmanager
def _with_mongodb(settings: Settings) -> Iterator[Settings]:
    from battlebot.embedded.mongod import mongod_socket, mongod_uri
    from battlebot.embedded.stores import embedded_stores

    if settings.mongodb_uri:
        yield settings
        return
    data = settings.data.expanduser().absolute()
    if not _was_kept(data / "mongod"):
        # an empty database, in which every check passes: the folder is not the server's, or its MongoDB is elsewhere
        raise EmbeddedError(f"No Battlebot has kept anything in {data}: set MONGODB_URI or BATTLEBOT_DATA.")
    sockets = _sockets_of_server(data)
    if sockets is not None and mongod_socket(sockets).exists():
        yield replace(settings, mongodb_uri=mongod_uri(sockets))
        return
    if sockets is not None:
        raise EmbeddedError(
            f"The Battlebot that runs over {data} has no mongod of its own now: set MONGODB_URI."
            " If it is just starting, try again."
        )
    with embedded_stores(settings) as running:
        yield running


def _sockets_of_server(data: Path) -> Path | None:
    """The folder of the sockets of the server that uses the data folder; None if none does. Raises EmbeddedError."""
    from battlebot.embedded.folder import DataFolder, sockets_in_use

    try:
        DataFolder(data).close()
    except EmbeddedError as error:
        if not isinstance(error.__cause__, BlockingIOError):
            # it cannot be written; what it notes of sockets may be of a server that was stopped long ago
            raise
        # it is locked: a server runs
        sockets = sockets_in_use(data)
        if not sockets:
            raise
        if not sockets.is_dir():
            # systemd's PrivateTmp, say
            raise EmbeddedError(
                f"The sockets of the Battlebot that runs over {data} are in {sockets}, which cannot be seen from here:"
                " it needs another TMPDIR."
            ) from None
        return sockets
    return None


def _was_kept(folder: Path) -> bool:
    """Whether an embedded server has written anything into its folder; every server makes the folder."""
    return folder.is_dir() and any(folder.iterdir())
