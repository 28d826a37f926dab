"""Server-sent events: a page's current state at once, and again whenever the bus says that something happened."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import orjson
from flask import Response, request, stream_with_context

from battlebot.api.context import Listener, current_context
from battlebot.errors import BattlebotError, Refused, Unavailable

HEARTBEAT_S = 15.0
PAUSE_S = 0.25  # between two states of one stream: what happens meanwhile travels together
MOST_DRAINED = 10_000
RECONNECT_MS = 2000

HEARTBEAT = b": nothing has happened\n\n"


@dataclass(frozen=True)
class Snapshot:
    """What a page shows now. `final`: it changes no more. `again_s`: look again then, whatever the bus says."""

    data: dict[str, Any]
    final: bool = False
    again_s: float = HEARTBEAT_S


def event_stream(channel: str, look: Callable[[], Snapshot]) -> Response:
    """The answer that streams what `look` sees; it raises what `look` raises the first time, and Unavailable."""
    if request.method == "HEAD":
        return Response(mimetype="text/event-stream")
    stack = ExitStack()
    try:
        # first the subscription, then the look: nothing that happens between them is missed
        listener = stack.enter_context(current_context().bus.listen(channel))
        first = look()
    except BaseException:
        stack.close()
        raise
    response = Response(stream_with_context(_stream(listener, look, first)), mimetype="text/event-stream")
    response.call_on_close(stack.close)
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    return response


def _stream(listener: Listener, look: Callable[[], Snapshot], shown: Snapshot) -> Iterator[bytes]:
    yield f"retry: {RECONNECT_MS}\n".encode() + _event(shown.data)
    sent_s = looked_s = time.monotonic()
    while not shown.final:
        try:
            message = listener.get(max(0.0, min(sent_s + HEARTBEAT_S, looked_s + shown.again_s) - time.monotonic()))
            if message is not None:
                _settle(listener, looked_s + PAUSE_S)
        except Unavailable:
            return  # the browser comes back by itself
        out = b""
        if message is not None or time.monotonic() >= looked_s + shown.again_s:
            looked_s = time.monotonic()
            shown, out = _next(look, shown)
        if not out and time.monotonic() >= sent_s + HEARTBEAT_S:
            out = HEARTBEAT
        if out:
            yield out
            sent_s = time.monotonic()


def _next(look: Callable[[], Snapshot], shown: Snapshot) -> tuple[Snapshot, bytes]:
    """The newest snapshot and what to send of it: nothing where it shows what was shown before."""
    try:
        seen = look()
    except Refused as error:
        return Snapshot(shown.data, final=True), _event(error.as_dict(), "gone")
    except BattlebotError as error:
        # an empty snapshot differs from the next good one, which is sent then
        return Snapshot({}, again_s=5.0), _event(error.as_dict(), "unavailable")
    return seen, b"" if seen.data == shown.data and not seen.final else _event(seen.data)


def _settle(listener: Listener, until_s: float) -> None:
    """Waits until that moment, and takes what has come meanwhile."""
    time.sleep(max(0.0, until_s - time.monotonic()))
    for _ in range(MOST_DRAINED):
        if listener.get(0) is None:
            return


def _event(data: dict[str, Any], kind: str | None = None) -> bytes:
    head = f"id: {time.time_ns() // 1_000_000}\n" + (f"event: {kind}\n" if kind else "")
    # JSON has no line ends of its own, which would end the field
    return head.encode() + b"data: " + orjson.dumps(data, default=str) + b"\n\n"
