"""The embedded stores of one data folder: Valkey and mongod, each only where no address is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from battlebot.config import Settings
from battlebot.embedded.folder import DataFolder
from battlebot.embedded.mongod import mongod_program, mongod_uri, wait_for_primary
from battlebot.embedded.process import Child, Program
from battlebot.embedded.valkey import valkey_program, valkey_url, wait_for_valkey
from battlebot.errors import EmbeddedError

_ATTEMPTS = 3

Wait = Callable[[Child, DataFolder], None]


class Stores:
    """Running stores: `settings` with every address and the secret key filled in, and `children` in order of start."""

    def __init__(self, settings: Settings) -> None:
        """Start what `settings` gives no address of, and wait until it is ready. Raises EmbeddedError."""
        self.folder = DataFolder(settings.data)
        self.children: list[Child] = []
        try:
            self.settings = replace(
                settings,
                data=self.folder.path,
                redis_url=settings.redis_url or valkey_url(self.folder),
                mongodb_uri=settings.mongodb_uri or mongod_uri(self.folder),
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
        # All are started before the first is waited for
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
            except EmbeddedError:
                # The servers of a supervisor that was killed a moment ago may not have let go of the files yet
                if child.alive or attempt == _ATTEMPTS - 1:
                    raise
                self.children[position] = Child(child.program)

    def stop(self) -> None:
        """Stop the servers, the last started first, and let go of the data folder."""
        for child in reversed(self.children):
            child.stop()
        self.folder.close()


@contextmanager
def embedded_stores(settings: Settings) -> Iterator[Settings]:
    """Within it, Valkey and mongod run for `settings.data`, and nothing else does. Gives settings with their addresses.

    Raises EmbeddedError. Nothing is restarted: who kills one within is on his own.
    """
    stores = Stores(settings)
    try:
        yield stores.settings
    finally:
        stores.stop()
