"""Redis pub/sub of one process: its own mailbox, and the channels that its viewers listen to.

Pub/sub may lose messages when a connection breaks. Listeners are told so (`on_gap`, or `MISSED`) and then read Redis
or MongoDB themselves.
"""

from __future__ import annotations

import queue
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import redis

from battlebot.redisio.connection import redis_errors
from battlebot.redisio.subscription import Subscription

UNREAD = 4  # heartbeats, one a second, that Redis took and that did not arrive: then the connection is dead
HEARTBEAT = b"heartbeat"
LISTENER_BACKLOG = 100
MISSED = b""  # stands for messages that may have been lost


class Listener:
    """One listener's view of a channel."""

    def __init__(self) -> None:
        self._messages: queue.Queue[bytes] = queue.Queue(LISTENER_BACKLOG)

    def get(self, timeout_s: float) -> bytes | None:
        """Returns the next message, `MISSED` if some may have been lost, or None if none came in time."""
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
    """Publishes, and serves listeners of any channel over one subscription connection per process."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._listeners: dict[str, set[Listener]] = defaultdict(set)
        self._subscription = Subscription(client, "bus", self._spread, partial(self._spread, message=MISSED))
        self._guard = threading.Lock()

    def publish(self, channel: str, message: bytes) -> None:
        """Sends a message to those who listen now. Raises Unavailable."""
        with redis_errors():
            self._client.publish(channel, message)

    @contextmanager
    def listen(self, channel: str) -> Iterator[Listener]:
        """Yields a Listener whose subscription is confirmed, so that it misses nothing within the `with` block.

        Raises Unavailable.
        """
        listener = Listener()
        with self._guard:
            self._listeners[channel].add(listener)
            self._subscription.want(channel)
        try:
            self._subscription.wait_for(channel)
            yield listener
        finally:
            with self._guard:
                self._listeners[channel].discard(listener)
                if not self._listeners[channel]:
                    del self._listeners[channel]
                    self._subscription.unwant(channel)

    def _spread(self, channel: str, message: bytes) -> None:
        for listener in list(self._listeners.get(channel, ())):
            listener.put(message)


class Mailbox:
    """A node's letters for its bots: one channel, read by one thread, in the order of the commits.

    A connection may be dead without an error, for example if a firewall in between has gone. So the mailbox posts
    letters to itself, and reconnects if Redis has taken `UNREAD` of them and none has arrived.
    """

    def __init__(
        self, client: redis.Redis, channel: str, on_mail: Callable[[bytes], None], on_gap: Callable[[], None]
    ) -> None:
        self._client = client
        self._channel = channel
        self._on_mail = on_mail
        self._on_gap = on_gap
        self._subscription = Subscription(client, "mailbox", self._on_message, self._on_new_connection, self._is_dead)
        self._unread = 0  # heartbeats posted since a letter was last read

    def start(self) -> None:
        """Starts reading in a thread of its own; returns once the subscription is confirmed.

        Raises Unavailable if Redis is away; then call it again.
        """
        self._subscription.want(self._channel)
        self._subscription.wait_for(self._channel)

    def beat(self) -> None:
        """Posts a heartbeat to itself, which `on_mail` does not get. Call every second. Raises Unavailable."""
        with redis_errors():
            self._client.publish(self._channel, HEARTBEAT)
        self._unread += 1

    def _on_message(self, _: str, letter: bytes) -> None:
        self._unread = 0
        if letter != HEARTBEAT:
            self._on_mail(letter)

    def _on_new_connection(self, _: str) -> None:
        self._on_gap()
        self._unread = 0  # `on_gap` may have taken long, and letters that came meanwhile are about to be read

    def _is_dead(self) -> bool:
        return self._unread >= UNREAD
