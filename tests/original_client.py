"""A stand-in for the original client, written from its description on the protocol page; it knows no extra keys.

It is as fragile as the original, on purpose, and reports it: a message after the login without `state`, an end without
`victor`, or a close code that the library of its time did not know, raises ProtocolViolation.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import websocket

State = dict[str, Any]
Turn = dict[str, Any]

POLL_S = 0.2  # how soon a blocked client notices its stop event
CLOSE_CODES = {None, 1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011}
LINGER_S = 3.0  # how long to wait for the close frame after the end; the original does not wait


class ProtocolViolation(AssertionError):
    """The server sent what would have crashed an original client."""


class LoginRejected(Exception):
    """The authentication was not "OK"."""


class Stopped(Exception):
    """The stop event was set while the client waited."""


@dataclass
class Connection:
    """The record of one connection: frames as ("sent" or "received", text), the close frame, the last state."""

    frames: list[tuple[str, str]] = field(default_factory=list)
    close_code: int | None = None
    close_reason: str = ""
    state: State | None = None

    @property
    def received(self) -> list[dict[str, Any]]:
        """Returns the server's messages, decoded."""
        return [json.loads(text) for way, text in self.frames if way == "received" and text]

    @property
    def sent(self) -> list[dict[str, Any]]:
        """Returns the client's messages, decoded."""
        return [json.loads(text) for way, text in self.frames if way == "sent"]


class OriginalClient:
    """Plays as the original client does. `auth` has the keys of its auth.json; `choose(state)` returns a turn.

    `connections` holds a record of each connection, the newest last; `errors` what ended `play_forever`. An instance
    belongs to one thread; the records may be read from another. `witness(way, text)` is called with each frame as well.
    """

    def __init__(
        self,
        url: str,
        auth: dict[str, str],
        choose: Callable[[State], Turn],
        contest: str | None = None,
        limit_s: float = 60.0,
        witness: Callable[[str, str], None] = lambda way, text: None,
    ) -> None:
        self.url, self.auth, self.choose, self.contest = url, auth, choose, contest
        self.limit_s, self.witness = limit_s, witness
        self.connections: list[Connection] = []
        self.errors: list[BaseException] = []

    @property
    def finished(self) -> list[State]:
        """Returns the final state of each match that was played to its end."""
        return [c.state for c in self.connections if c.state is not None and c.state.get("complete")]

    def play_once(self, stop_event: threading.Event | None = None) -> State | None:
        """Plays one match over one connection; returns its final state, or None if the server ended it before.

        Raises ProtocolViolation, LoginRejected, Stopped, OSError if nobody listens, TimeoutError after `limit_s`.
        """
        record = Connection()
        self.connections.append(record)
        deadline_s = time.monotonic() + self.limit_s
        # a handshake may take long on a machine under load
        socket = websocket.create_connection(self.url, timeout=self.limit_s)
        socket.settimeout(POLL_S)
        try:
            return self._play(_Wire(socket, record, deadline_s, stop_event or threading.Event(), self.witness))
        finally:
            socket.close(timeout=0.5)
            socket.shutdown()

    def play_forever(self, stop_event: threading.Event, limit: int | None = None) -> None:
        """Like the original in a contest: reconnects without a pause until stopped or `limit` matches have ended.

        An error of `play_once` ends it: it is appended to `errors` and raised.
        """
        try:
            while not stop_event.is_set() and (limit is None or len(self.finished) < limit):
                self.play_once(stop_event)
        except Stopped:
            return
        except BaseException as error:
            self.errors.append(error)
            raise

    def _play(self, wire: _Wire) -> State | None:
        first = wire.receive()
        if first is None:
            return None
        hashed = hashlib.sha256((self.auth["pass_hash"] + first["salt"]).encode()).hexdigest()
        login = {"game": self.auth["game"], "bot_id": self.auth["bot_id"], "login_hash": hashed}
        wire.send(login if self.contest is None else {**login, "contest": self.contest})
        reply = wire.receive()
        if reply is None or reply["authentication"] != "OK":
            raise LoginRejected(f"{reply} (close code {wire.record.close_code} {wire.record.close_reason})")
        while (message := wire.receive()) is not None:
            if "state" not in message:
                raise ProtocolViolation(f"a message without a state: {message}")
            state = wire.record.state = message["state"]
            if state["complete"]:
                if "victor" not in state:
                    raise ProtocolViolation(f"the match is complete without a victor: {message}")
                wire.until_closed()
                return state
            if state["nextPlayer"] == self.auth["bot_id"]:
                wire.send(self.choose(state))
        return None


@dataclass
class _Wire:
    socket: websocket.WebSocket
    record: Connection
    deadline_s: float
    stop_event: threading.Event
    witness: Callable[[str, str], None]

    def send(self, message: dict[str, Any]) -> None:
        text = json.dumps(message)
        self._note("sent", text)
        # the match may have ended meanwhile: the next read shows that
        with contextlib.suppress(ConnectionError, websocket.WebSocketConnectionClosedException):
            self.socket.send(text)

    def receive(self) -> dict[str, Any] | None:
        """Returns the next message; None for an empty frame, a close frame or a lost connection."""
        while True:
            if self.stop_event.is_set():
                raise Stopped
            if time.monotonic() > self.deadline_s:
                raise TimeoutError(f"nothing came any more; so far: {self.record.frames}")
            try:
                opcode, frame = self.socket.recv_data_frame()
            except websocket.WebSocketTimeoutException:
                continue
            except (websocket.WebSocketConnectionClosedException, ConnectionError):
                return None
            if opcode == websocket.ABNF.OPCODE_CLOSE:
                self.record.close_code = int.from_bytes(frame.data[:2]) or None
                self.record.close_reason = frame.data[2:].decode()
                if self.record.close_code not in CLOSE_CODES:
                    raise ProtocolViolation(f"closed with {self.record.close_code} {self.record.close_reason}")
                return None
            text = frame.data.decode()
            self._note("received", text)
            return json.loads(text) if text else None

    def _note(self, way: str, text: str) -> None:
        self.record.frames.append((way, text))
        self.witness(way, text)

    def until_closed(self) -> None:
        """Read on to the close frame. The original has left by then: what comes is recorded and changes nothing."""
        self.deadline_s = min(self.deadline_s, time.monotonic() + LINGER_S)
        with contextlib.suppress(TimeoutError, Stopped):
            while self.receive() is not None:
                pass
