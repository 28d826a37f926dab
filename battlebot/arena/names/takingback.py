"""Registrations that may be stored although MongoDB did not say so: as nobody was told their credentials, they go."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

import structlog

from battlebot.errors import Unavailable
from battlebot.runtime.background import in_background
from battlebot.storage.bots import Bots

log = structlog.get_logger()

AGAIN_S = 5.0
LOOKS = 36  # in vain, after which MongoDB no longer does what it was asked before
MOST = 10_000  # kept while MongoDB is away

Key = tuple[str, bytes]  # a bot and its sealed pass_hash


class TakingBack:
    """Takes back what is added, in a thread that ends when nothing is left to be looked for."""

    def __init__(self, bots: Bots) -> None:
        self._bots = bots
        self._left: dict[Key, int] = {}  # how often to look for each, not counting those times when MongoDB is away
        self._guard = threading.Lock()

    def add(self, bot_id: str, sealed_pass_hash: bytes) -> None:
        """Has the bot removed, now or as soon as it is there, if it is registered with this pass_hash."""
        log.warning("registration.in_doubt", bot=bot_id)
        with self._guard:
            begins = not self._left
            if len(self._left) < MOST:
                self._left[bot_id, sealed_pass_hash] = LOOKS
        if begins:
            in_background(self._run)

    def _run(self) -> None:
        goes_on = True
        while goes_on:
            time.sleep(AGAIN_S)
            with self._guard:
                wanted = list(self._left)
            try:
                for key in wanted:
                    self._look_for(key)
            except Unavailable:
                pass  # the rest is looked for the next time
            except Exception:
                # a mistake of ours, which would be made again and again
                log.exception("registration.not_taken_back", bots=[bot_id for bot_id, _ in wanted])
                self._give_up(wanted)
            with self._guard:
                goes_on = bool(self._left)

    def _give_up(self, wanted: Iterable[Key]) -> None:
        with self._guard:
            for key in wanted:
                self._left.pop(key, None)

    def _look_for(self, key: Key) -> None:
        found = self._bots.take_back(*key)
        with self._guard:
            self._left[key] -= 1
            if found or not self._left[key]:
                del self._left[key]
        if found:
            log.warning("registration.taken_back", bot=key[0])
