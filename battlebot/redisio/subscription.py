"""A connection to Redis that hears channels: it tells from when on, and from when on again after it was lost."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import redis
import structlog

from battlebot.errors import Unavailable

log = structlog.get_logger()

PAUSE_AFTER_LOSS_S = 0.2
WAIT_S = 2.0  # for a message, before it is checked whether the connection is dead
PING_AFTER_S = 10.0  # of silence, so that nothing in between drops the connection as idle
CONFIRMED_IN_S = 5.0  # as any command's answer

# what redis-py was seen to raise for a connection that ends while it is used
BROKEN = (redis.RedisError, OSError, AttributeError, TypeError, ValueError)


class Subscription:
    """Channels, read by one thread for as long as the process lives; any thread may add or remove channels.

    A channel is heard from when Redis has confirmed it, not from when it was asked for. If the connection is lost, only
    the reader reconnects, and subscribes to what is wanted by then; with redis-py's own `PubSub`, one thread may not
    connect while another subscribes. The reader calls `on_message(channel, data)` and `on_gap(channel)` in order:
    `on_gap` when a channel is heard again of which messages may have been lost. If no message comes, `is_dead()` says
    whether one should have come: then the connection counts as lost, too.
    """

    def __init__(
        self,
        client: redis.Redis,
        name: str,
        on_message: Callable[[str, bytes], None],
        on_gap: Callable[[str], None],
        is_dead: Callable[[], bool] = lambda: False,
    ) -> None:
        """`name` is that of the reader thread."""
        self._client = client
        self._name = name
        self._on_message = on_message
        self._on_gap = on_gap
        self._is_dead = is_dead
        self._reader: threading.Thread | None = None
        self._connection: redis.Connection | None = None
        # guards what is below
        self._changed = threading.Condition()
        self._stands = False
        self._broken = False  # the connection has ended, and the reader has not found out yet
        self._lost = False  # the connection was lost, and nothing has been confirmed since
        self._failures = 0
        self._wanted: set[str] = set()
        self._unconfirmed: Counter[str] = Counter()
        self._asked_s = 0.0  # since when something is unconfirmed
        self._ping_at_s = 0.0
        self._pinged = False  # a ping was sent, and nothing has come since
        self._heard: set[str] = set()
        self._missed: set[str] = set()  # were heard before the loss, and not yet again

    def want(self, channel: str) -> None:
        """Has the channel heard, until `unwant`. Neither waits for that nor raises."""
        with self._changed:
            if channel in self._wanted:
                return
            self._wanted.add(channel)
            if self._stands:
                self._subscribe(channel)
            if self._reader is None:
                self._reader = threading.Thread(target=self._read, name=self._name, daemon=True)
                self._reader.start()
            self._changed.notify_all()

    def wait_for(self, channel: str) -> None:
        """Returns when a wanted channel is heard. Raises Unavailable; the channel stays wanted then."""
        with self._changed:
            failures = self._failures
            self._changed.wait_for(lambda: channel in self._heard or self._failures != failures, CONFIRMED_IN_S)
            if channel not in self._heard:
                raise Unavailable("Redis has not confirmed a subscription.")

    def unwant(self, channel: str) -> None:
        """Has the channel no longer heard, also after a reconnect. Neither waits nor raises."""
        with self._changed:
            for channels in (self._wanted, self._heard, self._missed):
                channels.discard(channel)
            if self._stands:
                self._send("UNSUBSCRIBE", channel)

    def _subscribe(self, *channels: str) -> None:
        if not self._unconfirmed:
            self._asked_s = time.monotonic()
        self._unconfirmed.update(channels)
        self._send("SUBSCRIBE", *channels)

    def _send(self, *command: str) -> None:
        assert self._connection is not None
        if self._broken:
            # redis-py would connect anew, and take its answers from the reader
            return
        try:
            self._connection.send_command(*command, check_health=False)
        except BROKEN:
            self._broken = True

    def _read(self) -> None:
        while True:
            try:
                self._connect()
                while True:
                    self._take(self._next())
            except Exception as error:
                self._lose(error)
            time.sleep(PAUSE_AFTER_LOSS_S)

    def _connect(self) -> None:
        """Connects once a channel is wanted, and subscribes to all wanted; nobody else uses the connection then."""
        with self._changed:
            self._changed.wait_for(lambda: self._wanted)
        connection = self._connection
        if connection is None:
            connection = self._client.connection_pool.get_connection()
            connection.register_connect_callback(self._on_connect)
        else:
            connection.connect()
        with self._changed:
            self._connection, self._stands, self._broken, self._pinged = connection, True, False, False
            if self._wanted:
                self._subscribe(*self._wanted)

    def _on_connect(self, _: object) -> None:
        # redis-py reconnects by itself if it finds the connection gone: the new one has no subscriptions
        self._broken = True

    def _next(self) -> Any:
        """Returns the next response, or None after `WAIT_S` without one. Raises if the connection is lost."""
        connection = self._connection
        assert connection is not None
        came = connection.can_read(timeout=WAIT_S)
        if self._broken:
            raise redis.ConnectionError("The connection has ended.")
        now_s = time.monotonic()
        if came:
            self._ping_at_s, self._pinged = now_s + PING_AFTER_S, False
            return connection.read_response(push_request=True)
        with self._changed:
            if self._unconfirmed:
                if now_s > self._asked_s + CONFIRMED_IN_S:
                    raise redis.TimeoutError("A subscription has not been confirmed.")
            elif self._is_dead():
                raise redis.ConnectionError("The connection stands, but letters do not come.")
            elif now_s > self._ping_at_s:
                if self._pinged:
                    raise redis.TimeoutError("A ping has not been answered.")
                self._ping_at_s, self._pinged = now_s + PING_AFTER_S, True
                self._send("PING")
        return None

    def _take(self, response: Any) -> None:
        if not isinstance(response, list):
            return
        kind = response[0]
        try:
            if kind == b"message":
                self._on_message(response[1].decode(), response[2])
            elif kind == b"subscribe" and self._is_confirmed(channel := response[1].decode()):
                self._on_gap(channel)
        except Exception:
            log.exception("bus.failed")

    def _is_confirmed(self, channel: str) -> bool:
        """Notes a confirmation; returns whether it ends a gap.

        It does not if more are to come for the channel: then the channel was given up and wanted again after it.
        """
        with self._changed:
            self._unconfirmed[channel] -= 1
            if self._unconfirmed[channel] > 0:
                return False
            del self._unconfirmed[channel]
            self._asked_s, self._lost = time.monotonic(), False
            if channel not in self._wanted:
                return False
            self._heard.add(channel)
            self._changed.notify_all()
            again = channel in self._missed
            self._missed.discard(channel)
            return again

    def _lose(self, error: Exception) -> None:
        with self._changed:
            if not isinstance(error, BROKEN):
                log.error("bus.failed", exc_info=error)
            elif not self._lost:
                log.warning("bus.lost", error=type(error).__name__, sentence=str(error))
            if self._connection is not None:
                self._connection.disconnect()
            self._failures += self._lost
            self._stands, self._lost = False, True
            self._missed |= self._heard
            self._heard.clear()
            self._unconfirmed.clear()
            self._changed.notify_all()
