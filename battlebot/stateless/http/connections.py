"""Connections to HTTP bots: opened to addresses that the guard has checked, kept for reuse, limited in number."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import NamedTuple
from weakref import WeakKeyDictionary

from gevent.lock import BoundedSemaphore

from battlebot.errors import BadAddress, without_traceback
from battlebot.stateless.clock import Clock
from battlebot.stateless.http.guard import Guard, Unresolved, forbidden
from battlebot.stateless.http.location import Location
from battlebot.stateless.http.notconnected import NotConnected, not_connected, of_destination
from battlebot.stateless.http.tls import Connection, Tls, Unfinished
from battlebot.stateless.http.waiting import Peer, Waiting, persist

CONNECT_S = 4.0  # for all addresses of a name together, TLS included
LEAST_CONNECT_S = 1.0  # for each address that is tried, while that much is left
# how long a connection is kept, in use or idle: at a bot that serves one connection at a time it blocks other
# processes, of which this one knows nothing; no game's turn timeout is this short
KEPT_S = 0.75
UNKEPT_S = 600.0  # how long no connection is kept to a bot that has sent more than it was asked for
MOST_IDLE = 1000
MOST_AT_ONCE = 64  # to one host and port, from one process, in rated matches; and as many in others
UNRATED_LOOKUPS = 128  # names looked up at a time for unrated matches: half of `lookups.LOOKUPS`

Slots = tuple[bool, str, int, bool]


class IdleConnection(NamedTuple):
    """An idle connection, with the moment since which it is kept (monotonic) and its peer."""

    since_s: float
    connection: Connection
    peer: Peer


class Connections:
    """Idle connections, each used by one question at a time.

    A connection is reused only for the url it was made for: a late second answer of a bot must not be read as the
    answer of another bot at the same host and port. `late_s()`: seconds by which this process has been late so far.
    """

    def __init__(self, guard: Guard, late_s: Callable[[], float]) -> None:
        self._guard = guard
        self._late_s = late_s
        self._context: ssl.SSLContext | None = None
        self._idle: OrderedDict[Location, deque[IdleConnection]] = OrderedDict()
        self._count = 0
        # since when each connection is kept, including the times when it was in use
        self._since_s: WeakKeyDictionary[Connection, float] = WeakKeyDictionary()
        self._unkept: OrderedDict[Location, float] = OrderedDict()
        self._waiting: dict[Peer, dict[Waiting, None]] = {}  # questions for which one more connection must be closed
        self._busy: dict[Slots, int] = {}
        self._left = threading.Condition()
        # that of `threading` loses a place if a greenlet is killed while it gives the place up
        self._unrated_lookups = BoundedSemaphore(UNRATED_LOOKUPS)
        self._lock = threading.Lock()

    def enter(self, location: Location, rated: bool) -> None:
        """Takes one of a host's `MOST_AT_ONCE` slots, waiting until one is free; `leave` must follow.

        Unrated matches have slots of their own: they would hold up rated ones for as long as slow bots take.
        """
        key = _slots(location, rated)
        if self._busy.get(key, 0) >= MOST_AT_ONCE:
            with self._left:
                while self._busy.get(key, 0) >= MOST_AT_ONCE:
                    self._left.wait()
                self._busy[key] = self._busy.get(key, 0) + 1
            return
        self._busy[key] = self._busy.get(key, 0) + 1

    def leave(self, location: Location, rated: bool) -> None:
        """Gives the slot back."""
        key = _slots(location, rated)
        busy = self._busy[key] - 1
        if busy:
            self._busy[key] = busy
        else:
            del self._busy[key]
        if busy == MOST_AT_ONCE - 1:
            with self._left:
                self._left.notify_all()

    def idle(self, location: Location) -> Connection | None:
        """Returns a kept connection to this url that is open and has received nothing unasked for, or None."""
        while (found := self._pop(location)) is not None:
            heard = _heard(found.connection)
            if heard is None and time.monotonic() - found.since_s < KEPT_S:
                return found.connection
            found.connection.close()
            if heard:
                self._keep_none(location)
        return None

    def make_room(self, waiting: Waiting) -> None:
        """Closes one idle connection to the same peer; if there is none, the next one that would be kept."""
        assert waiting.peer is not None
        with self._lock:
            found = self._idle_to(waiting.peer)
            if found is None:
                self._waiting.setdefault(waiting.peer, {})[waiting] = None
                return
            location, kept = found
            self._idle[location].remove(kept)
            self._dropped(location)
        kept.connection.close()

    def _idle_to(self, peer: Peer) -> tuple[Location, IdleConnection] | None:
        rows = self._idle.items()
        return next(((location, kept) for location, row in rows for kept in row if kept.peer == peer), None)

    def forget(self, waiting: Waiting) -> None:
        """Withdraws a `make_room` that is still pending."""
        if not self._waiting:
            return
        with self._lock:
            self._strike(waiting)

    def _makes_room(self, peer: Peer) -> bool:
        with self._lock:
            row = self._waiting.get(peer)
            if not row:
                return False
            self._strike(next(iter(row)))
            return True

    def _strike(self, waiting: Waiting) -> None:
        if waiting.peer is None:
            return
        row = self._waiting.get(waiting.peer, {})
        row.pop(waiting, None)
        if not row:
            self._waiting.pop(waiting.peer, None)

    def keep(self, location: Location, connection: Connection) -> None:
        """Keeps a connection for the next question; may close the least recently used one instead.

        Closes this one if another question to the same peer waits for room, if it has been kept for `KEPT_S`, or if the
        bot is one that no connections are kept to.
        """
        peer, now_s = _peer(connection), time.monotonic()
        since_s = self._since_s.setdefault(connection, now_s)
        unkept = now_s < self._unkept.get(location, 0.0) or now_s - since_s >= KEPT_S
        if peer is None or unkept or (self._waiting and self._makes_room(peer)):
            connection.close()
            return
        with self._lock:
            row = self._idle.setdefault(location, deque())
            row.append(IdleConnection(since_s, connection, peer))
            self._idle.move_to_end(location)
            self._count += 1
            oldest = next(iter(self._idle)) if self._count > MOST_IDLE else None
        if oldest is not None and (old := self._pop(oldest, oldest_first=True)) is not None:
            old.connection.close()

    def _keep_none(self, location: Location) -> None:
        """Keeps no connections to this bot for `UNKEPT_S`: its surplus bytes could pass for an answer later."""
        with self._lock:
            self._unkept[location] = time.monotonic() + UNKEPT_S
            self._unkept.move_to_end(location)
            if len(self._unkept) > MOST_IDLE:
                self._unkept.popitem(last=False)

    def _pop(self, location: Location, oldest_first: bool = False) -> IdleConnection | None:
        with self._lock:
            row = self._idle.get(location)
            if not row:
                return None
            found = row.popleft() if oldest_first else row.pop()
            self._dropped(location)
            return found

    def _dropped(self, location: Location) -> None:
        self._count -= 1
        if not self._idle[location]:
            del self._idle[location]

    def tidy(self) -> None:
        """Closes idle connections that have been kept for `KEPT_S`; call as often as `Askers.tidy`."""
        before_s = time.monotonic() - KEPT_S
        with self._lock:
            stale = [one for row in self._idle.values() for one in row if one.since_s < before_s]
            for key, row in list(self._idle.items()):
                kept = deque(one for one in row if one.since_s >= before_s)
                self._idle[key] = kept
                if not kept:
                    del self._idle[key]
            self._count -= len(stale)
        for one in stale:
            one.connection.close()

    def new(self, location: Location, waiting: Waiting, rated: bool = True) -> Connection:
        """Opens a connection to an address of the host that the guard has checked. Raises NotConnected.

        Unrated matches look up `UNRATED_LOOKUPS` names at a time: anybody may begin them with names whose servers take
        their time, and rated ones would wait for all of these.
        """
        try:
            with nullcontext() if rated else self._unrated_lookups:
                found = self._guard.addresses(location.host, location.port)
        except BadAddress as error:
            raise NotConnected(error.code, str(error)) from None
        except Unresolved as error:
            raise NotConnected("unresolved", str(error), error.ours) from None
        clock = Clock(CONNECT_S, self._late_s)
        clock.start()
        candidates = deque(found)
        failure: OSError | None = None
        while candidates and (taken_s := clock.thinking_s()) < CONNECT_S:
            # an address that drops every packet must leave time for the others
            share_s = max(LEAST_CONNECT_S, (CONNECT_S - taken_s) / len(candidates))
            clock.limit_s = min(CONNECT_S, taken_s + share_s)
            family, address = candidates.popleft()
            try:
                return self._opened(location, family, address, clock, waiting)
            except TimeoutError as error:
                # it is tried again if there is time left after the others, as when this process was paused
                failure = without_traceback(error)
                candidates.append((family, address))
            except (OSError, ValueError) as error:
                failure = without_traceback(of_destination(error, family, (address, location.port)))
        raise not_connected(location, failure, CONNECT_S)

    def _opened(self, location: Location, family: int, address: str, clock: Clock, waiting: Waiting) -> Connection:
        connected: socket.socket = socket.socket(family, socket.SOCK_STREAM)
        connection: Connection = connected
        try:
            connected.settimeout(max(0.05, clock.left_s()))
            connected.connect((address, location.port))
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            peer = connected.getpeername()[:2]
            # the system may have connected to another address than it was given
            if not self._guard.permits(ipaddress.ip_address(peer[0])):
                raise forbidden(location.host)
            waiting.goes_to(peer)
            if location.tls:
                connection = Tls(connected, self._tls(), location.host)
                persist(connection, clock, connection.handshake, waiting)
            return connection
        except BaseException as error:
            connection.close()
            if isinstance(error, BadAddress):
                raise NotConnected(error.code, str(error)) from None
            raise

    def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            self._context = ssl.create_default_context()
            self._context.set_alpn_protocols(["http/1.1"])
        return self._context


def _slots(location: Location, rated: bool) -> Slots:
    return location.tls, location.host, location.port, rated


def _peer(connection: Connection) -> Peer | None:
    """The address and port of the other side; None if the connection has ended."""
    with suppress(OSError):
        address, port = connection.getpeername()[:2]
        return address, port
    return None


def _heard(connection: Connection) -> bytes | None:
    """Reads one byte that was not asked for; b"" if the connection is closed, None if it is open and silent."""
    try:
        connection.settimeout(0.0)
        return connection.recv(1)
    except (BlockingIOError, InterruptedError, Unfinished):
        return None
    except (OSError, ValueError):
        return b""
