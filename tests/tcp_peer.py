"""A client of the TCP door at the level of frames, on a raw socket, that keeps to no rules; two of them at a board."""

from __future__ import annotations

import hashlib
import json
import select
import socket
import struct
import time
from typing import Any

from peer import new_name

LIMIT_S = 20.0

Message = dict[str, Any]


class Ended(Exception):
    """The arena closed the connection."""


class TcpPeer:
    """One raw connection; `name` is set by `enter`."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.name = ""
        self.sock = socket.create_connection(address, LIMIT_S)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, message: Any) -> None:
        """Sends an object as JSON, or a payload unchanged, in its frame."""
        payload = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.raw(len(payload).to_bytes(4) + payload)

    def raw(self, data: bytes) -> None:
        """Sends bytes unchanged."""
        self.sock.sendall(data)

    def read(self, limit_s: float = LIMIT_S) -> Message:
        """Returns the next message. Raises Ended, and TimeoutError after `limit_s`."""
        until_s = time.monotonic() + limit_s
        return json.loads(self._exactly(int.from_bytes(self._exactly(4, until_s)), until_s))

    def event(self, name: str) -> Message:
        """Returns the next message, which must be this event."""
        message = self.read()
        assert message.get("event") == name, message
        return message

    def silent(self, for_s: float) -> bool:
        """Returns whether nothing arrives for so long."""
        return not select.select([self.sock], [], [], for_s)[0]

    def ended(self) -> bool:
        """Returns whether the arena ends the connection without another message."""
        try:
            return not self.sock.recv(1)
        except ConnectionError:
            return True

    def enter(self, name: str | None = None) -> TcpPeer:
        """Does steps 1 to 3."""
        self.name = name or new_name("player")
        self.send({"username": self.name})
        for expected in ({"status": "ok"}, {"event": "player_is_free"}):
            message = self.read()
            assert message == expected, message
        return self

    def find(self) -> TcpPeer:
        """Does step 4."""
        self.send({"event": "find_opponent"})
        return self

    def move(self, question: Message, x: Any, y: Any) -> None:
        """Does step 7."""
        self.send({"event": "make_move", "id": question["id"], "x": x, "y": y})

    def leave(self) -> None:
        """Closes the connection cleanly."""
        self.sock.close()

    def reset(self) -> None:
        """Ends the connection as a broken network does."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def _exactly(self, size: int, until_s: float) -> bytes:
        data = b""
        while len(data) < size:
            self.sock.settimeout(max(0.001, until_s - time.monotonic()))
            try:
                more = self.sock.recv(size - len(data))
            except ConnectionError:
                more = b""
            if not more:
                raise Ended
            data += more
        return data


class Pair:
    """Two players in a pairing: `mover` has been asked by `question`, `other` waits."""

    def __init__(self, one: TcpPeer, two: TcpPeer) -> None:
        self.one, self.two = one, two
        self.mover, self.other = one, two
        self.question: Message = {}

    def begin(self) -> Pair:
        """Lets both look for an opponent, and find each other."""
        self.one.find()
        self.two.find()
        for peer, against in ((self.one, self.two), (self.two, self.one)):
            assert peer.read() == {"event": "starting_game", "against": against.name}
        return self.asked()

    def asked(self) -> Pair:
        """Reads the question to the player who is asked."""
        ready, _, _ = select.select([self.one.sock, self.two.sock], [], [], LIMIT_S)
        assert ready, "nobody is asked"
        self.mover = self.one if self.one.sock in ready else self.two
        self.other = self.two if self.mover is self.one else self.one
        self.question = self.mover.event("get_move")
        return self

    def play(self, *moves: tuple[int, int]) -> Pair:
        """Plays the moves one after another; reads the next question after each."""
        for x, y in moves:
            self.mover.move(self.question, x, y)
            self.mover, self.other = self.other, self.mover
            self.question = self.mover.event("get_move")
        return self

    def until_five(self) -> tuple[TcpPeer, TcpPeer]:
        """Lets the asked player win in five of its moves; returns winner and loser, before they have read the end."""
        self.play(*((n // 2, n % 2) for n in range(8)))
        self.mover.move(self.question, 4, 0)
        return self.mover, self.other

    def over(self) -> None:
        """Plays both boards to their end."""
        for board in range(2):
            winner, loser = self.until_five()
            winner.event("win")
            loser.event("lose")
            if board == 0:
                self.asked()
        for peer in (self.one, self.two):
            peer.event("player_is_free")


def login_hash(pass_hash: str, salt: str) -> str:
    """Returns the answer to a salt."""
    return hashlib.sha256((pass_hash + salt).encode()).hexdigest()
