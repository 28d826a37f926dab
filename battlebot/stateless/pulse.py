"""Whether NATS answers: what this process sends to itself through it and hears again. The connection is natsline's."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress

from nats.errors import Error

BEAT_S = 0.05
SLOW_BEATS = 6  # the way to NATS and back is shorter, also to the other end of the world


class Pulse:
    """`send(token)` sends what is to be given to `came(token)` when NATS brings it back; `heard()` counts what came.

    nats-py's own pings are not for this: one that is no longer waited for ends its reading when it is answered.
    """

    def __init__(self, send: Callable[[str], Awaitable[None]], heard: Callable[[], int]) -> None:
        self.silent_s = 0.0
        self._send, self._heard = send, heard
        self._echoes: dict[str, asyncio.Event] = {}

    async def echo(self) -> None:
        """Returns when NATS has answered; what it had sent before is read then. After `lost()` it returns as well."""
        token, echo = secrets.token_hex(16), asyncio.Event()
        self._echoes[token] = echo
        try:
            await self._send(token)
            await echo.wait()
        finally:
            del self._echoes[token]

    def came(self, token: str) -> None:
        """Takes what came back, and whatever else is none."""
        if token in self._echoes:
            self._echoes[token].set()

    def lost(self) -> None:
        """The connection was lost, or is another: what is under way may never come back."""
        for echo in self._echoes.values():
            echo.set()

    async def measure(self, wanted: Callable[[], bool]) -> None:
        """Adds to `silent_s`, as long as it is `wanted()`, by how much NATS says nothing though it is asked."""
        while wanted():
            echo = asyncio.create_task(self.echo())
            await self._listen(echo, wanted)
            echo.cancel()
            with suppress(asyncio.CancelledError, Error, OSError):
                await echo
            await asyncio.sleep(BEAT_S)

    async def _listen(self, echo: asyncio.Task[None], wanted: Callable[[], bool]) -> None:
        beats, heard = 0, self._heard()
        while wanted():
            done, _ = await asyncio.wait({echo}, timeout=BEAT_S)
            if done:
                return
            # the echo waits behind whatever others send us: who sends much is not to gain time by it
            beats, heard = (beats + 1 if heard == self._heard() else 0), self._heard()
            # never more than the beats: what this process itself is late is counted elsewhere
            if beats >= SLOW_BEATS:
                self.silent_s += BEAT_S * (SLOW_BEATS if beats == SLOW_BEATS else 1)
