"""What a fuzzed bot does, step by step, and the doors where it does so.

Another door is a class with the members of `Door`, listed in `DOORS`: every test of conversations runs on it too.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Any, Protocol

from hypothesis import strategies as st
from jsons import texts, turns
from peer import BINARY, CLOSE, CONTINUED, PING, PONG, TEXT, UPGRADE, Peer, frame

Step = tuple[str, Any]  # (what to do, with what)


def encoded(text: str) -> bytes:
    """Encodes text, even if it holds half a surrogate, which UTF-8 does not allow."""
    return text.encode("utf-8", "surrogatepass")


class Door(Protocol):
    """One way in, as a fuzzed bot uses it."""

    name: str
    steps: st.SearchStrategy[Step]

    def greeting(self, address: str) -> bytes:
        """Returns what a client sends before it is sent the salt."""

    def open(self, address: str) -> Peer:
        """Returns a connection after the greeting, with `message`, `update`, `send`, `log_in` and `sock` of `Peer`."""

    def do(self, peer: Peer, step: Step) -> None:
        """Does one of `steps`. Raises OSError or Closed if the server has hung up."""


class WebSocketDoor:
    """RFC 6455: messages, frames of all kinds, valid and invalid, and bytes that are no frames."""

    name = "websocket"
    steps: st.SearchStrategy[Step] = st.one_of(
        st.tuples(st.just("message"), texts),
        st.tuples(st.just("message"), turns.map(json.dumps)),
        st.tuples(
            st.just("frame"),
            st.tuples(
                st.sampled_from([CONTINUED, TEXT, BINARY, CLOSE, PING, PONG]) | st.integers(0, 15),
                st.binary(max_size=140) | texts.map(encoded),
                st.booleans(),
            ),
        ),
        st.tuples(st.just("close"), st.integers(0, 65535)),
        st.tuples(st.just("raw"), st.binary(max_size=60)),
        st.tuples(st.just("cut"), texts),
        st.tuples(st.just("dribble"), turns.map(json.dumps)),
        st.tuples(st.just("flood"), st.sampled_from([TEXT, BINARY, PING, PONG])),
        st.tuples(st.just("read"), st.none()),
        st.tuples(st.just("half-close"), st.none()),
    )

    def greeting(self, address: str) -> bytes:
        """Returns the upgrade request."""
        return UPGRADE.format(path="/", host=address).encode()

    def open(self, address: str) -> Peer:
        """Returns an upgraded connection."""
        return Peer(address)

    def do(self, peer: Peer, step: Step) -> None:
        """Does one of `steps`."""
        kind, what = step
        match kind:
            case "message":
                peer.frame(TEXT, encoded(what))
            case "frame":
                peer.frame(*what)
            case "close":
                peer.frame(CLOSE, struct.pack("!H", what))
            case "raw":
                peer.raw(what)
            case "cut":
                data = frame(TEXT, encoded(what))
                peer.raw(data[: len(data) // 2])
            case "dribble":
                for byte in frame(TEXT, encoded(what)):
                    peer.raw(bytes([byte]))
            case "flood":
                peer.raw(frame(what, b"{}") * 300)
            case "half-close":
                peer.sock.shutdown(socket.SHUT_WR)
            case "read":
                read_some(peer)


def read_some(peer: Peer) -> None:
    """Reads for a moment what has arrived."""
    try:
        peer.any_frame(0.02)
    except TimeoutError:
        return


DOORS: list[Door] = [WebSocketDoor()]
