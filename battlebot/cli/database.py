"""The MongoDB of commands that work on it directly: the one that is named, that runs, or is started for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from battlebot.errors import EmbeddedError

if TYPE_CHECKING:
    from battlebot.config import Settings
    from battlebot.storage import Storage


@contextmanager
def open_storage(settings: Settings) -> Iterator[Storage]:
    """The repositories, within it: over MONGODB_URI; else over the embedded mongod of the data folder.

    Where a server has that folder, it is that server's mongod, else one of ours, for as long as this lasts. Raises
    EmbeddedError where no server has ever kept anything there, SettingError for a malformed URI, Unavailable at the
    first query.
    """
    from battlebot.storage import Storage

    with _with_mongodb(settings) as found:
        storage = Storage(found)
        try:
            yield storage
        finally:
            storage.close()


def running_stores(settings: Settings) -> Settings:
    """Settings with both addresses: those given, else of the server that runs over the data folder.

    Raises EmbeddedError where none runs there.
    """
    from battlebot.embedded.folder import DataFolder, socket_folder

    if settings.redis_url and settings.mongodb_uri:
        return settings
    data = settings.data.expanduser().absolute()
    if (data / "mongod").is_dir() or (data / "valkey").is_dir():
        try:
            DataFolder(data).close()
        except EmbeddedError:
            # it is locked, so a server runs
            sockets = socket_folder(data)
            mongod = f"mongodb://{quote(str(sockets / 'mongod.sock'), safe='')}/?directConnection=true"
            return replace(
                settings,
                redis_url=settings.redis_url or f"unix://{sockets / 'valkey.sock'}?db=0",
                mongodb_uri=settings.mongodb_uri or mongod,
            )
    raise EmbeddedError(f"No Battlebot runs over {data}: start it, or set REDIS_URL and MONGODB_URI.")


@contextmanager
def _with_mongodb(settings: Settings) -> Iterator[Settings]:
    from battlebot.embedded.folder import DataFolder, socket_folder
    from battlebot.embedded.stores import embedded_stores

    if settings.mongodb_uri:
        yield settings
        return
    data = settings.data.expanduser().absolute()
    if not (data / "mongod").is_dir():
        # a folder made by mistake would be an empty database that agrees with everything
        raise EmbeddedError(f"No Battlebot has kept anything in {data}: set MONGODB_URI or BATTLEBOT_DATA.")
    try:
        DataFolder(data).close()
    except EmbeddedError:
        # it is locked, so a server runs, and its mongod with it
        socket = socket_folder(data) / "mongod.sock"
        if not socket.exists():
            raise
        yield replace(settings, mongodb_uri=f"mongodb://{quote(str(socket), safe='')}/?directConnection=true")
        return
    with embedded_stores(settings) as running:
        yield running
