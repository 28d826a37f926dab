"""A node's life: its name, its heartbeat, its ticks, its mailbox. Wires nothing; app.py does."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import redis
import structlog

from battlebot.arena.live.heartbeats import LIVES_S
from battlebot.arena.live.mail import rejoin
from battlebot.arena.node.service import Arena
from battlebot.errors import Unavailable
from battlebot.redisio import keys
from battlebot.redisio.bus import Mailbox
from battlebot.redisio.connection import redis_errors
from battlebot.runtime import sharedtime
from battlebot.runtime.background import in_background
from battlebot.runtime.timers import Timers

log = structlog.get_logger()

HEARTBEAT_S = 1.0  # between two heartbeats, and between two calls of a tick
HANGS_S = 75.0  # a tick that has taken so long never ends: a commit and what follows a conflict are tried for 30 s each


class Tick:
    """What a node does every second, `call()`, and whether it is still at it after `HANGS_S`."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call
        self._began_s: float | None = None

    def __call__(self) -> None:
        self._began_s = time.monotonic()
        try:
            self._call()
        finally:
            self._began_s = None

    @property
    def hangs(self) -> bool:
        """Whether the call under way has taken so long that it will not end."""
        began_s = self._began_s
        return began_s is not None and time.monotonic() - began_s > HANGS_S


class Node:
    """Starts and keeps running what a node does besides the conversations at its door."""

    def __init__(
        self,
        client: redis.Redis,
        arena: Arena,
        timers: Timers,
        ticks: Sequence[Callable[[], None]] = (),
        letters: Mapping[str, Callable[..., None]] | None = None,
        ended: Sequence[str] = (),
    ) -> None:
        """Each of the `ticks` is called every second while the heart beats, in a thread of its own.

        A tick may raise Unavailable. `letters`: handlers for letters that are not the arena's own, as in `Post`.
        `ended`: nodes whose place this one takes, and whose processes have ended.
        """
        self._client = client
        self._arena = arena
        self._timers = timers
        self._ticks = [Tick(tick) for tick in ticks]
        self._beat_s = -math.inf  # when (monotonic) the last heartbeat was sent
        self._opened = False
        self._known = False
        self._stood = False
        self._ended = ended
        post = arena.post(**letters or {})
        self._mailbox = Mailbox(client, keys.mailbox(arena.node), post.take, self._look_after_all)

    def start(self) -> None:
        """Starts the threads. Waits for Redis, so that no bot is let in before its mail can arrive."""
        self._timers.start()
        for begin in (self._mailbox.start, self.beat, partial(self._arena.heartbeats.end, self._ended)):
            self._until_done(begin)
        # a tick may wait for Redis or MongoDB: nobody must take the node for dead meanwhile
        _every_second("heartbeat", self.beat)
        for tick in self._ticks:
            _every_second("tick", partial(self._call, tick))
        log.info("node.started", node=self._arena.node)

    def _until_done(self, begin: Callable[[], None]) -> None:
        while True:
            try:
                begin()
            except Unavailable as error:
                log.warning("node.waits_for_redis", node=self._arena.node, reason=str(error))
                time.sleep(HEARTBEAT_S)
            else:
                return

    def beat(self) -> None:
        """Sends one heartbeat. Raises Unavailable, also while a tick hangs, or before Redis has told the time.

        A node that was taken for dead meanwhile (it stalled, or Redis was away) takes its players' seats back. That
        may take long, and is done in the background: otherwise it would be taken for dead again.
        """
        if any(tick.hangs for tick in self._ticks):
            # what it does no more, its players can have elsewhere if it is taken for dead
            raise Unavailable("A tick of this node hangs.")
        # one moment too late, and no outage would be noticed until then
        sharedtime.check()
        ago_s = self._arena.opening.ago_s()
        new = self._arena.heartbeats.send(self._arena.node, sharedtime.now_s(), not self._opened, ago_s)
        self._beat_s = time.monotonic()
        self._opened = self._opened or ago_s < math.inf
        if new and self._known:
            log.warning("node.was_taken_for_dead", node=self._arena.node)
            self._stood = True
        self._known = True
        self._mailbox.beat()
        if self._stood:
            with redis_errors():
                # unread letters may still seat players: this one is read after them, and those are looked after, too
                self._client.publish(keys.mailbox(self._arena.node), rejoin())
            self._look_after_all()
            self._stood = False

    def _call(self, tick: Tick) -> None:
        # if the node has been taken for dead, nobody would drop the tickets that the tick puts into queues
        if time.monotonic() - self._beat_s < LIVES_S:
            tick()

    def _look_after_all(self) -> None:
        # letters are read meanwhile: for each match the newest revision counts
        in_background(self._arena.look_after_all)


def _every_second(name: str, call: Callable[[], None]) -> None:
    """Starts a thread that makes the call for as long as the process lives."""
    threading.Thread(target=_repeat, args=(call, f"node.{name}_missed"), name=name, daemon=True).start()


def _repeat(call: Callable[[], None], missed: str) -> None:
    while True:
        time.sleep(HEARTBEAT_S)
        try:
            call()
        except Unavailable as error:
            log.warning(missed, error=str(error))
        except Exception:
            log.exception("node.failed")
