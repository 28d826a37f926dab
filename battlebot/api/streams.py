"""Server-sent events: a snapshot at once, and a new one whenever the bus announces that something happened."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import cycle
from typing import Any

from flask import Response, current_app, request, stream_with_context

from battlebot.api.concurrency import give_up_place, of_live_pages
from battlebot.api.context import current_context
from battlebot.api.ports import Listener
from battlebot.api.sender import sender
from battlebot.api.unread import EXTENSION as UNREAD
from battlebot.errors import BattlebotError, Refused, TooMany, without_traceback
from battlebot.runtime.cooperative import Line
from battlebot.runtime.counting import Tally

HEARTBEAT_S = 15.0
PAUSE_S = 0.25  # between two snapshots of one stream: announcements meanwhile share the next one
FRESH_S = 0.5  # between two looks at one page, for all its streams
MOST_DRAINED = 10_000
RECONNECT_MS = 2000
PIECE = 32_768  # bytes of an event that are sent at a time

HEARTBEAT = b": nothing has happened\n\n"
ALIVE = b": nothing has happened\nevent: alive\ndata: {}\n\n"  # for scripts: browsers do not show them comments


@dataclass(frozen=True)
class Told:
    """What a stream keeps of a snapshot: `data` is that line of its event, with the event's end."""

    data: bytes
    final: bool = False
    again_s: float = HEARTBEAT_S


@dataclass(frozen=True)
class Snapshot:
    """What is to be seen now. `final`: it will not change. `again_s`: when to look again without an announcement."""

    data: dict[str, Any]
    final: bool = False
    again_s: float = HEARTBEAT_S

    @cached_property
    def told(self) -> Told:
        """What is sent of it, encoded once for all streams of a page: hundreds may be slow to read it."""
        return Told(_data(self.data), self.final, self.again_s)


NEVER = (float("-inf"), None)  # when a look began, and what was seen

# in which streams send the pieces of long events: so many in one round of the hub, which rests for a millisecond
_lines = cycle([Line() for _ in range(8)])

Event = tuple[bytes, bytes]  # its first lines, which are one stream's own, and the rest, which all streams share


class Shared:
    """Shares one look at a page among its streams, at most one per `FRESH_S`: viewers must not starve the bots."""

    def __init__(self, most: int, most_of_an_address: int) -> None:
        """`most`: how many streams a node may have; `most_of_an_address`: how many of these may be of one address."""
        self._most = most
        self._most_of_an_address = most_of_an_address
        self._guards: dict[str, threading.Lock] = defaultdict(threading.Lock)
        self._seen: dict[str, tuple[float, Snapshot | BattlebotError]] = {}  # errors without their tracebacks
        self._streams = Tally()

    def look(self, page: str, look: Callable[[], Snapshot], since_s: float) -> Snapshot:
        """Returns what `look` returns, or returned for another stream at `since_s` (monotonic) or later.

        A look's BattlebotError is shared and raised in the same way.
        """
        # without the guard: who may be shown what was seen does not wait until another stream's next look is over
        seen = self._seen_since(page, since_s)
        if seen is None:
            with self._guards[page]:
                seen = self._seen_since(page, since_s) or self._looked(page, look)
        if isinstance(seen, BattlebotError):
            try:
                raise seen.with_traceback(None)
            finally:
                # its traceback holds this call: the request would stay in memory until the collector runs
                del seen
        return seen

    def _seen_since(self, page: str, since_s: float) -> Snapshot | BattlebotError | None:
        began_s, seen = self._seen.get(page, NEVER)
        return seen if began_s >= since_s else None

    def _looked(self, page: str, look: Callable[[], Snapshot]) -> Snapshot | BattlebotError:
        time.sleep(max(0.0, self._seen.get(page, NEVER)[0] + FRESH_S - time.monotonic()))
        began_s = time.monotonic()
        try:
            self._seen[page] = (began_s, look())
        except BattlebotError as error:
            self._seen[page] = (began_s, without_traceback(error))
        return self._seen[page][1]

    @contextmanager
    def stream(self, page: str, address: str) -> Iterator[None]:
        """Counts a stream within the `with` block. Raises TooMany."""
        # each stream is counted twice: for its page and for its address
        if self._streams.total() >= 2 * self._most or self._streams[f"@{address}"] >= self._most_of_an_address:
            raise TooMany("Too many event streams are open; close one and try again.")
        self._streams.update((page, f"@{address}"))
        try:
            yield
        finally:
            for key in (page, f"@{address}"):
                self._streams.take_off(key)
            if page not in self._streams:
                self._seen.pop(page, None)
                self._guards.pop(page, None)


def event_stream(channel: str, look: Callable[[], Snapshot]) -> Response:
    """Returns the response that streams what `look` returns; with `?alive=1` its heartbeats are events.

    Raises what the first `look` raises, TooMany, Unavailable.
    """
    if request.method == "HEAD":
        look()
        return _event_response(iter(()))
    # it would wait for the look of another stream, which waits for a place
    give_up_place()
    look = of_live_pages(look)
    settings = current_context().settings
    shared: Shared = current_app.extensions.setdefault(
        "battlebot.streams", Shared(settings.max_streams, settings.max_streams_per_address)
    )
    page = request.path
    with ExitStack() as stack:
        stack.enter_context(shared.stream(page, sender()))
        listener = stack.enter_context(current_context().bus.listen(channel))
        heard_from_s = time.monotonic()
        first = shared.look(page, look, heard_from_s - FRESH_S)
        held = stack.pop_all()

    def look_since(since_s: float) -> Told:
        return shared.look(page, look, since_s).told

    heartbeat = ALIVE if "alive" in request.args else HEARTBEAT
    events = _stream(listener, look_since, first.told, heard_from_s, heartbeat)
    counted = partial(current_app.extensions[UNREAD].counted, sender())
    response = _event_response(stream_with_context(_in_pieces(events, settings.response_timeout_s, counted)))
    response.call_on_close(held.close)
    return response


def _event_response(told: Iterator[bytes]) -> Response:
    response = Response(told, mimetype="text/event-stream")
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    return response


def _in_pieces(
    events: Iterator[Event], soon_s: float, counted: Callable[[int], AbstractContextManager[None]]
) -> Iterator[bytes]:
    """Yields events in pieces: what is sent is copied, and who does not read would have a copy of megabytes.

    Hundreds that have long events to send do so by turns, and bots have theirs between them. An event that is not taken
    within `soon_s` is `counted` from then on: what has been seen since is kept as well. Raises what `counted` raises.
    """
    line = next(_lines)
    for head, data in events:
        taken_s, latest_s = 0.0, soon_s
        with ExitStack() as slowly:
            for begin in range(0, len(data) or 1, PIECE):
                if len(data) > PIECE:
                    line.in_turn()
                piece, began_s = data[begin : begin + PIECE], time.monotonic()
                yield piece if begin else head + piece
                taken_s += time.monotonic() - began_s
                if taken_s > latest_s:
                    slowly.enter_context(counted(len(data)))
                    latest_s = float("inf")


def _stream(
    listener: Listener, look: Callable[[float], Told], shown: Told, heard_from_s: float, heartbeat: bytes
) -> Iterator[Event]:
    head, data = _event(shown)
    yield f"retry: {RECONNECT_MS}\n".encode() + head, data
    if not shown.final:
        # what is shown may be another stream's look, before this one heard of anything
        shown, out = _next(partial(look, heard_from_s), shown)
        if out is not None:
            yield out
    sent_s = looked_s = time.monotonic()
    while not shown.final:
        message = listener.get(max(0.0, min(sent_s + HEARTBEAT_S, looked_s + shown.again_s) - time.monotonic()))
        came_s = time.monotonic()
        if message is not None:
            _settle(listener, looked_s + PAUSE_S)
        out = None
        if message is not None or time.monotonic() >= looked_s + shown.again_s:
            looked_s = time.monotonic()
            shown, out = _next(partial(look, came_s), shown)
        if out is None and time.monotonic() >= sent_s + HEARTBEAT_S:
            out = heartbeat, b""
        if out is not None:
            yield out
            sent_s = time.monotonic()


def _next(look: Callable[[], Told], shown: Told) -> tuple[Told, Event | None]:
    """Returns what is to be seen now and what to send of it: nothing if it equals what was sent last."""
    try:
        seen = look()
    except Refused as error:
        return replace(shown, final=True), _event(Told(_data(error.as_dict())), "gone")
    except BattlebotError as error:
        # an empty one differs from the next good one, which is sent then
        return Told(b"", again_s=5.0), _event(Told(_data(error.as_dict())), "unavailable")
    return seen, None if seen.data == shown.data and not seen.final else _event(seen)


def _settle(listener: Listener, until_s: float) -> None:
    """Waits until `until_s` (monotonic), then drops the announcements that have come."""
    time.sleep(max(0.0, until_s - time.monotonic()))
    for _ in range(MOST_DRAINED):
        if listener.get(0) is None:
            return


def _event(told: Told, kind: str | None = None) -> Event:
    head = f"id: {time.time_ns() // 1_000_000}\n" + (f"event: {kind}\n" if kind else "")
    return head.encode(), told.data


def _data(data: dict[str, Any]) -> bytes:
    # a line end would end the field, but encoded JSON has none
    return b"data: " + current_app.json.dumps(data).encode() + b"\n\n"
