"""A stand-in for the original duel arena's client, written from the protocol page alone.

It is as fragile as the original, on purpose: it reads a frame by two calls of recv, and an event that it does not
know, or that comes out of order, raises Violation.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

LIMIT_S = 60.0

Move = tuple[Any, Any]
Message = dict[str, Any]


class Violation(AssertionError):
    """The arena sent what would have crashed an original client."""


@dataclass
class BoardSeen:
    """A board as its player saw it: `end` is "win" or "lose", None if the original saw none (a draw)."""

    id: int
    against: str
    first: bool
    end: str | None = None
    moves: list[list[int]] = field(default_factory=list)
    invalid: Message | None = None


class OriginalTcpClient:
    """Plays as the original client does. `choose(board)` returns the move, given the board's dict; `boards` are those
    played, the newest last.
    """

    def __init__(self, address: tuple[str, int], username: str, choose: Callable[[Message], Move]) -> None:
        self.username, self.choose = username, choose
        self.boards: list[BoardSeen] = []
        self.pairings: list[str] = []
        self.asked: list[str] = []
        self._socket = socket.create_connection(address, LIMIT_S)

    def log_in(self) -> None:
        """Does steps 1 to 3: up to the first `player_is_free`."""
        self.send({"username": self.username})
        self._expect(self.receive(), {"status": "ok"})
        self._expect(self.receive(), {"event": "player_is_free"})

    def play_pairing(self) -> list[BoardSeen]:
        """Does steps 4 to 10: asks for an opponent and plays until it is free again; returns the boards played."""
        played = len(self.boards)
        self.send({"event": "find_opponent"})
        against, invalid = "", None
        while True:
            message = self.receive()
            event = message.get("event")
            if event == "starting_game":
                self._keys(message, "event", "against")
                against = message["against"]
                self.pairings.append(against)
            elif not against:
                raise Violation(f"{message} before starting_game")
            elif event == "get_move":
                self._move(message, against)
            elif event == "invalid_move":
                self._keys(message, "event", "x", "y", "board")
                invalid = message
            elif event in ("win", "lose"):
                self._keys(message, "event", "board")
                seen = self._seen(message["board"], against)
                seen.end, seen.invalid, invalid = event, invalid, None
            elif event == "player_is_free":
                self._keys(message, "event")
                return self.boards[played:]
            else:
                raise Violation(f"an unknown event: {message}")

    def leave(self) -> None:
        """Does step 10: disconnects."""
        self._socket.close()

    def send(self, message: Message) -> None:
        """Sends header and body in one piece."""
        body = json.dumps(message).encode()
        self._socket.sendall(len(body).to_bytes(4, "big") + body)

    def receive(self) -> Message:
        """Reads one frame by two calls of recv; a header or a body that comes in pieces breaks it."""
        header = self._socket.recv(4)
        if len(header) != 4:
            raise Violation(f"a header of {len(header)} bytes")
        size = int.from_bytes(header, "big")
        body = self._socket.recv(size)
        if len(body) != size:
            raise Violation(f"{len(body)} of {size} bytes came")
        message = json.loads(body)
        if not isinstance(message, dict):
            raise Violation(f"{message} is no object")
        return message

    def _move(self, message: Message, against: str) -> None:
        self._keys(message, "event", "id", "board")
        if not isinstance(message["id"], str) or message["id"] in self.asked:
            raise Violation(f"the id {message['id']!r} is no string, or not unique")
        self.asked.append(message["id"])
        seen = self._seen(message["board"], against)
        if (len(seen.moves) % 2 == 0) != seen.first:
            raise Violation(f"asked out of turn: {message}")
        x, y = self.choose(message["board"])
        self.send({"event": "make_move", "id": message["id"], "x": x, "y": y})

    def _seen(self, board: Message, against: str) -> BoardSeen:
        self._keys(board, "_id", "_size", "_win_length", "_moves")
        moves = board["_moves"]
        if not self.boards or self.boards[-1].id != board["_id"]:
            if type(board["_id"]) is not int or (self.boards and board["_id"] <= self.boards[-1].id):
                raise Violation(f"the board's id {board['_id']!r} is no integer that grows")
            self.boards.append(BoardSeen(board["_id"], against, first=len(moves) % 2 == 0))
        seen = self.boards[-1]
        if moves[: len(seen.moves)] != seen.moves:
            raise Violation(f"moves have changed: {seen.moves} {moves}")
        if seen.end is not None:
            raise Violation(f"{board} is over already")
        seen.moves = moves
        return seen

    def _expect(self, message: Message, expected: Message) -> None:
        if message != expected:
            raise Violation(f"{message} instead of {expected}")

    def _keys(self, message: Message, *keys: str) -> None:
        if set(message) != set(keys):
            raise Violation(f"{message} has not the keys {keys}")
