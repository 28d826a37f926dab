"""Measures whether NATS answers, with messages of this process to itself. `line` sends and hears these."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

from nats.errors import Error

BEAT_S = 0.05
SLOW_S = 0.25  # an echo that takes this much longer than a round trip to NATS is silence; 0.3 is promised
ECHOES = 20  # the shortest of the latest ones is the round trip: a lasting delay soon no longer counts as silence
MANY = 10  # messages in a beat: if more come, the echo may be queued behind them


class Pulse:
    """`send(token)` sends a message; `came(token)` must be called when NATS brings it back. `heard()`: messages so far.

    `late_s()`: seconds by which this process has been late so far, which do not count as NATS's silence. nats-py's own
    pings are of no use: the answer to one that is no longer awaited ends its reading.
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
        # seconds without an echo, or a burst of messages, up to the last look; `_looked` is None while nobody measures
        self._quiet_s = 0.0
        self._looked: tuple[float, float] | None = None
        self._heard_before = 0

    @property
    def silent_s(self) -> float:
        """Seconds for which NATS has been silent so far while it was measured, the present silence included."""
        return self._counted_s + self._silence_s(self._quiet_s + self._since_look_s())

    def took(self, seconds: float) -> None:
        """Notes an upper bound for the round trip to NATS."""
        self._took_s.append(seconds)

    async def echo(self) -> None:
        """Returns when NATS has answered; what it sent before has been read by then. Also returns after `lost()`."""
        token, echo = secrets.token_hex(16), asyncio.Event()
        self._echoes[token] = echo, time.monotonic()
        try:
            await self._send(token)
            await echo.wait()
        finally:
            del self._echoes[token]

    def came(self, token: str) -> None:
        """Takes the token of an echo; ignores any other."""
        if token in self._echoes:
            echo, sent_s = self._echoes[token]
            self.took(time.monotonic() - sent_s)
            self._count()
            echo.set()

    def lost(self) -> None:
        """Notes that the connection was lost or replaced: echoes under way may never come back."""
        self._count()
        for echo, _ in self._echoes.values():
            echo.set()

    async def measure(self, wanted: Callable[[], bool]) -> None:
        """Sends echoes while `wanted()`, and adds to `silent_s` for how long NATS does not answer them."""
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
        # a bot must not gain time by sending much; a few messages do not show that NATS answers this process
        if heard - before > MANY:
            self._count()

    def _count(self) -> None:
        """Ends the present silence and adds it to the total."""
        if self._looked is not None:
            self._counted_s = self.silent_s
            self._quiet_s, self._looked = 0.0, (time.monotonic(), self._late_s())

    def _since_look_s(self) -> float:
        if self._looked is None:
            return 0.0
        looked_s, late_s = self._looked
        # only a pause of this process makes a look later than that, and it is counted elsewhere, or not known
        return min(2 * BEAT_S, max(0.0, time.monotonic() - looked_s - (self._late_s() - late_s)))

    def _silence_s(self, quiet_s: float) -> float:
        beyond_s = quiet_s - min(self._took_s, default=0.0)
        return beyond_s if beyond_s >= SLOW_S else 0.0
