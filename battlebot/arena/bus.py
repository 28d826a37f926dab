"""Redis pub/sub of one process: its own mailbox, and the channels that its viewers listen to.

Pub/sub may lose messages when a connection breaks; whoever listens is told so (`on_gap`, or `MISSED`) and looks at
Redis or MongoDB itself.
"""

from __future__ import annotations

import queue
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import redis

from battlebot.arena.connection import redis_errors
from battlebot.arena.subscription import Subscription

UNREAD = 4  # letters of a mailbox to itself, one a second, that were taken and have not come: then it is dead
HEARTBEAT = b"heartbeat"
LISTENER_BACKLOG = 100
MISSED = b""  # in the place of messages that may have been lost


class Listener:
    """One listener's view of a channel."""

    def __init__(self) -> None:
        self._messages: queue.Queue[bytes] = queue.Queue(LISTENER_BACKLOG)

    def get(self, timeout_s: float) -> bytes | None:
        """The next message; `MISSED` where some may have been lost, None if none came in time."""
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
        self._subscription = Subscription(client, "bus", self._spread, self._tell_missed)
        self._guard = threading.Lock()

    def publish(self, channel: str, message: bytes) -> None:
        """Sends a message to whoever listens now. Raises Unavailable."""
        with redis_errors():
            self._client.publish(channel, message)

    @contextmanager
    def listen(self, channel: str) -> Iterator[Listener]:
        """A Listener on a channel, for the time of the `with` block: it misses nothing from then on.

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

    def _tell_missed(self, channel: str) -> None:
        self._spread(channel, MISSED)


class Mailbox:
    """What a node must tell its bots: one channel, read by one thread, in the order of the commits.

    A connection may be dead though nobody has said so (a machine or a firewall between has gone): the mailbox posts
    itself letters, and where Redis took some of them and none comes, it connects anew.
    """

    def __init__(
        self, client: redis.Redis, channel: str, on_mail: Callable[[bytes], None], on_gap: Callable[[], None]
    ) -> None:
        self._client = client
        self._channel = channel
        self._on_mail = on_mail
        self._on_gap = on_gap
        self._subscription = Subscription(client, "mailbox", self._on_message, self._on_new_connection, self._is_dead)
        self._unread = 0  # letters to itself since something was read last

    def start(self) -> None:
        """Starts reading in a thread of its own; returns when no letter is lost any more.

        Raises Unavailable if Redis is away; to be called again then.
        """
        self._subscription.want(self._channel)
        self._subscription.wait_for(self._channel)

    def beat(self) -> None:
        """Posts itself a letter, of which nobody else hears; to be called every second. Raises Unavailable."""
        with redis_errors():
            self._client.publish(self._channel, HEARTBEAT)
        self._unread += 1

    def _on_message(self, _: str, letter: bytes) -> None:
        self._unread = 0
        if letter != HEARTBEAT:
            self._on_mail(letter)

    def _on_new_connection(self, _: str) -> None:
        self._on_gap()
        self._unread = 0  # it may have taken long, and what has come meanwhile is about to be read

    def _is_dead(self) -> bool:
        return self._unread >= UNREAD
