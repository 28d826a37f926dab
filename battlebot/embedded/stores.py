"""The embedded stores of one data folder: Valkey and mongod, each only if no address is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from battlebot.config import Settings
from battlebot.embedded.folder import DataFolder
from battlebot.embedded.mongod import mongod_program, mongod_uri, wait_for_primary
from battlebot.embedded.process import Child, Program, without_room
from battlebot.embedded.valkey import valkey_program, valkey_url, wait_for_valkey
from battlebot.errors import EmbeddedError

_ATTEMPTS = 3

Wait = Callable[[Child, DataFolder], None]


class Stores:
    """Running stores: `settings` with every address and the secret key filled in, and `children` in order of start."""

    def __init__(self, settings: Settings) -> None:
        """Start the stores for which `settings` has no address, and wait until they are ready. Raises EmbeddedError."""
        self.folder = DataFolder(settings.data)
        self.children: list[Child] = []
        try:
            self.folder.check_owner()
            self.settings = replace(
                settings,
                data=self.folder.path,
                redis_url=settings.redis_url or valkey_url(self.folder.sockets),
                mongodb_uri=settings.mongodb_uri or mongod_uri(self.folder.sockets),
                secret_key=settings.secret_key or self.folder.secret_key(),
            )
            self._start(
                *([] if settings.redis_url else [(valkey_program(self.folder), wait_for_valkey)]),
                *([] if settings.mongodb_uri else [(mongod_program(self.folder), wait_for_primary)]),
            )
        except BaseException:
            self.stop()
            raise

    def _start(self, *programs: tuple[Program, Wait]) -> None:
        # All are started before waiting for the first
        for program, _ in programs:
            self.children.append(Child(program))
        for position, (_, wait) in enumerate(programs):
            self._wait(position, wait)

    def _wait(self, position: int, wait: Wait) -> None:
        for attempt in range(_ATTEMPTS):
            child = self.children[position]
            try:
                wait(child, self.folder)
                break
            except EmbeddedError as error:
                # The servers of a supervisor killed a moment ago may not have released their files yet
                if child.alive or attempt == _ATTEMPTS - 1:
                    if child.program.has_room():
                        raise
                    raise without_room(str(error)) from error
                self.children[position] = Child(child.program)

    def stop(self) -> None:
        """Stop the servers, the last started first, and release the data folder."""
        for child in reversed(self.children):
            child.stop()
        self.folder.close()


@contextmanager
def embedded_stores(settings: Settings) -> Iterator[Settings]:
    """Run only Valkey and mongod for `settings.data` within the context. Yields settings with their addresses.

    Raises EmbeddedError. A store that dies is not restarted.
    """
    stores = Stores(settings)
    try:
        yield stores.settings
    finally:
        stores.stop()
