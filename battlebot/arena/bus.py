"""Redis pub/sub of one process: its own mailbox, and the channels that its viewers listen to.

Pub/sub may lose messages when a connection breaks; whoever listens is told so (`on_gap`, or a None) and looks at
Redis or MongoDB itself.
"""

from __future__ import annotations

import queue
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import redis
import structlog

from battlebot.arena.connection import redis_errors
from battlebot.errors import Unavailable

log = structlog.get_logger()

PAUSE_AFTER_LOSS_S = 0.2
WAIT_S = 2.0  # for a message, before one asks whether the connection is dead
UNREAD = 4  # letters of a mailbox to itself, one a second, that were taken and have not come: then it is dead
HEARTBEAT = b"heartbeat"
LISTENER_BACKLOG = 100


class Listener:
    """One listener's view of a channel."""

    def __init__(self) -> None:
        self._messages: queue.Queue[bytes] = queue.Queue(LISTENER_BACKLOG)

    def get(self, timeout_s: float) -> bytes | None:
        """The next message; None if none came in time."""
        try:
            return self._messages.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def put(self, message: bytes) -> None:
        """Adds a message; a listener too slow for its channel misses the oldest."""
        if self._messages.full():
            self._messages.get_nowait()
        self._messages.put_nowait(message)


class Bus:
    """Publishes, and serves listeners of any channel over one subscription connection a process."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._listeners: dict[str, set[Listener]] = defaultdict(set)
        self._pubsub: redis.client.PubSub | None = None
        self._guard = threading.Lock()

    def publish(self, channel: str, message: bytes) -> None:
        """Sends a message to whoever listens now. Raises Unavailable."""
        with redis_errors():
            self._client.publish(channel, message)

    @contextmanager
    def listen(self, channel: str) -> Iterator[Listener]:
        """A Listener on a channel, for the time of the `with` block. Raises Unavailable."""
        listener = Listener()
        with self._guard:
            if not self._listeners.get(channel):
                self._subscribe(channel)
            self._listeners[channel].add(listener)
        try:
            yield listener
        finally:
            with self._guard:
                self._listeners[channel].discard(listener)
                if not self._listeners[channel]:
                    self._unsubscribe(channel)

    def _subscribe(self, channel: str) -> None:
        with redis_errors():
            if self._pubsub is None:
                pubsub = self._client.pubsub(ignore_subscribe_messages=True)
                pubsub.subscribe(channel)
                self._pubsub = pubsub
                threading.Thread(target=self._read, name="bus", daemon=True).start()
            else:
                self._pubsub.subscribe(channel)

    def _unsubscribe(self, channel: str) -> None:
        del self._listeners[channel]
        try:
            if self._pubsub is not None:
                with redis_errors():
                    self._pubsub.unsubscribe(channel)
        except Unavailable:
            # a channel that is heard in vain does no harm
            log.info("bus.still_subscribed", channel=channel)

    def _read(self) -> None:
        def spread(message: dict[str, bytes]) -> None:
            for listener in list(self._listeners.get(message["channel"].decode(), ())):
                listener.put(message["data"])

        assert self._pubsub is not None
        read_for_ever(self._pubsub, spread, lambda: None)


class Mailbox:
    """What a node must tell its bots: one channel, read by one thread, in the order of the commits.

    A connection may be dead though nobody has said so (a machine or a firewall between has gone): the mailbox posts
    itself letters, and where Redis took some of them and none comes, it connects anew.
    """

    def __init__(
        self, client: redis.Redis, channel: str, on_mail: Callable[[bytes], None], on_gap: Callable[[], None]
    ) -> None:
        self._client = client
        self._pubsub = client.pubsub(ignore_subscribe_messages=True)
        self._channel = channel
        self._on_mail = on_mail
        self._on_gap = on_gap
        self._unread = 0  # letters to itself since something was read last

    def start(self) -> None:
        """Subscribes and starts reading in a thread of its own. Raises Unavailable if Redis is away at the start."""
        with redis_errors():
            self._pubsub.subscribe(self._channel)
        threading.Thread(target=self._read, name="mailbox", daemon=True).start()

    def beat(self) -> None:
        """Posts itself a letter, of which nobody else hears; to be called every second. Raises Unavailable."""
        with redis_errors():
            self._client.publish(self._channel, HEARTBEAT)
        self._unread += 1

    def _read(self) -> None:
        read_for_ever(self._pubsub, self._on_message, self._on_new_connection, self._is_dead)

    def _on_message(self, message: dict[str, bytes]) -> None:
        self._unread = 0
        if message["data"] != HEARTBEAT:
            self._on_mail(message["data"])

    def _on_new_connection(self) -> None:
        self._on_gap()
        self._unread = 0  # it may have taken long, and what has come meanwhile is about to be read

    def _is_dead(self) -> bool:
        return self._unread >= UNREAD


def read_for_ever(
    pubsub: redis.client.PubSub,
    on_message: Callable[[dict[str, bytes]], None],
    on_gap: Callable[[], None],
    is_dead: Callable[[], bool] = lambda: False,
) -> None:
    """Reads a subscription, over lost connections too; `on_gap` is called after each, when it stands again.

    Where no message has come, `is_dead` says whether one should have: then the connection is lost.
    """
    gap = threading.Event()
    while True:
        try:
            message = pubsub.get_message(timeout=WAIT_S)
            if gap.is_set():
                gap.clear()
                on_gap()
            elif message is None and is_dead():
                if pubsub.connection is not None:
                    pubsub.connection.disconnect()
                raise redis.ConnectionError("The connection stands, but letters do not come.")
            if message is not None and message["type"] == "message":
                on_message(message)
        except (redis.RedisError, OSError, AttributeError) as error:
            # the client resubscribes by itself when it connects again
            if not gap.is_set():
                log.warning("bus.lost", error=type(error).__name__, sentence=str(error))
            gap.set()
            gap_pause()
        except Exception:
            log.exception("bus.failed")
            gap_pause()


def gap_pause() -> None:
    """Waits before the next attempt to connect."""
    threading.Event().wait(PAUSE_AFTER_LOSS_S)
