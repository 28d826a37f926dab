"""Whether NATS answers: what this process sends to itself through it and hears again. The connection is natsline's."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

from nats.errors import Error

BEAT_S = 0.05
SLOW_S = 0.25  # nothing came back for so much longer than the way to NATS and back takes; 0.3 is promised
ECHOES = 20  # the shortest of the last ones is that way: a longer one that lasts is no silence for long
MANY = 10  # messages in a beat: where more come the echo may stand behind them


class Pulse:
    """`send(token)` sends what is to be given to `came(token)` when NATS brings it back; `heard()` counts what came.

    `late_s()` is by how much this process has been late so far, which is counted there and not as NATS's silence.
    nats-py's own pings are not for this: one that is no longer waited for ends its reading when it is answered.
    """

    def __init__(
        self,
        send: Callable[[str], Awaitable[None]],
        heard: Callable[[], int],
        late_s: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._send, self._heard, self._late_s = send, heard, late_s
        self._echoes: dict[str, tuple[asyncio.Event, float]] = {}
        self._took_s: deque[float] = deque(maxlen=ECHOES)
        self._counted_s = 0.0
        # since the last echo came, or much else: up to the last look; None: nobody measures
        self._quiet_s = 0.0
        self._looked: tuple[float, float] | None = None
        self._heard_before = 0

    @property
    def silent_s(self) -> float:
        """By how much NATS has said nothing so far while it was measured, the present silence included."""
        return self._counted_s + self._silence_s(self._quiet_s + self._since_look_s())

    def took(self, seconds: float) -> None:
        """The way to NATS and back was no longer than that."""
        self._took_s.append(seconds)

    async def echo(self) -> None:
        """Returns when NATS has answered; what it had sent before is read then. After `lost()` it returns as well."""
        token, echo = secrets.token_hex(16), asyncio.Event()
        self._echoes[token] = echo, time.monotonic()
        try:
            await self._send(token)
            await echo.wait()
        finally:
            del self._echoes[token]

    def came(self, token: str) -> None:
        """Takes what came back, and whatever else is none."""
        if token in self._echoes:
            echo, sent_s = self._echoes[token]
            self.took(time.monotonic() - sent_s)
            self._count()
            echo.set()

    def lost(self) -> None:
        """The connection was lost, or is another: what is under way may never come back."""
        self._count()
        for echo, _ in self._echoes.values():
            echo.set()

    async def measure(self, wanted: Callable[[], bool]) -> None:
        """Adds to `silent_s`, as long as it is `wanted()`, by how much NATS says nothing though it is asked."""
        self._quiet_s, self._looked, self._heard_before = 0.0, (time.monotonic(), self._late_s()), self._heard()
        while wanted():
            echo = asyncio.create_task(self.echo())
            while wanted() and not (await asyncio.wait({echo}, timeout=BEAT_S))[0]:
                self._look()
            echo.cancel()
            with suppress(asyncio.CancelledError, Error, OSError):
                await echo
            await asyncio.sleep(BEAT_S)
            self._look()
        self._count()
        self._looked = None

    def _look(self) -> None:
        self._quiet_s += self._since_look_s()
        self._looked = time.monotonic(), self._late_s()
        heard, before = self._heard(), self._heard_before
        self._heard_before = heard
        # who sends much is not to gain time by it; a few messages say nothing of our own way to NATS
        if heard - before > MANY:
            self._count()

    def _count(self) -> None:
        """The silence is over, and so much the longer."""
        if self._looked is not None:
            self._counted_s = self.silent_s
            self._quiet_s, self._looked = 0.0, (time.monotonic(), self._late_s())

    def _since_look_s(self) -> float:
        if self._looked is None:
            return 0.0
        looked_s, late_s = self._looked
        # a look is not so late but by a pause of this process, which is counted elsewhere, or not known
        return min(2 * BEAT_S, max(0.0, time.monotonic() - looked_s - (self._late_s() - late_s)))

    def _silence_s(self, quiet_s: float) -> float:
        beyond_s = quiet_s - min(self._took_s, default=0.0)
        return beyond_s if beyond_s >= SLOW_S else 0.0
