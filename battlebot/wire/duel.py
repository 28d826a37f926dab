"""Every message of the TCP door in both directions (protocol duel-arena, docs/tcp.md).

No sockets. Keys are in the order of the original arena.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import orjson

from battlebot.errors import BadMessage
from battlebot.wire.framing import frame
from battlebot.wire.names import checked_label

GAME = "gomoku"  # the only game at this door
MAX_SENT_BYTES = 16_384  # limit for an echoed coordinate: the message must fit into a frame
INTEGER = re.compile(r"\s*[+-]?[0-9]{1,9}\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Username:
    """The first message: the player's name, and `login_hash` if it answers a salt."""

    username: str
    login_hash: str | None = None


@dataclass(frozen=True, slots=True)
class FindOpponent:
    """The player wants to play."""


@dataclass(frozen=True, slots=True)
class MakeMove:
    """A move that answers the question `id`. `x` and `y` are None if they are not whole numbers.

    `sent` are the original values to be echoed; None for one that is too large to echo.
    """

    id: object
    x: int | None
    y: int | None
    sent: tuple[Any, Any] = (None, None)


Request = FindOpponent | MakeMove


def _decode_payload(payload: bytes) -> dict[str, Any]:
    """Decode the JSON object of a payload. Raises BadMessage if it is not UTF-8, not JSON or not an object.

    Its content is not checked further: only names, small integers and what `_sent` returns are used.
    """
    try:
        value = orjson.loads(payload)
    except orjson.JSONDecodeError:
        raise BadMessage("This is not JSON in UTF-8.") from None
    if not isinstance(value, dict):
        raise BadMessage("This is not a JSON object.")
    return value


def decode_username(payload: bytes) -> Username:
    """Decode the first message. Raises BadMessage, BadName."""
    message = _decode_payload(payload)
    if "username" not in message:
        raise BadMessage('The first message must be {"username": "..."}.')
    hashed = message.get("login_hash")
    return Username(checked_username(message["username"]), hashed if isinstance(hashed, str) else None)


def checked_username(value: object) -> str:
    """Return a player's name if valid: 1 to 64 visible characters or blanks, not all blank. Raises BadName.

    The rules are looser than for a bot's name: users of the original play under the local part of their e-mail address.
    """
    return checked_label(value, "username")


def decode_request(payload: bytes) -> Request:
    """Decode any message after the first. Raises BadMessage."""
    message = _decode_payload(payload)
    event = message.get("event")
    if event == "find_opponent":
        return FindOpponent()
    if event == "make_move":
        x, y = message.get("x"), message.get("y")
        return MakeMove(message.get("id"), _coordinate(x), _coordinate(y), (_sent(x), _sent(y)))
    raise BadMessage('The events that a player may send are "find_opponent" and "make_move".', field="event")


def _sent(value: object) -> object:
    """The coordinate as sent if it can be echoed, else None: orjson reads deeper nesting than it can write."""
    if not isinstance(value, str | list | dict):
        return value
    try:
        text = orjson.dumps({"x": value})
    except orjson.JSONEncodeError:
        return None
    return value if len(text) <= MAX_SENT_BYTES else None


def _coordinate(value: object) -> int | None:
    """A whole number, also from a string or a float without fraction, as in the original; else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return int(value) if INTEGER.fullmatch(value) else None
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 1e9 else None
    return value if isinstance(value, int) else None


@dataclass(frozen=True, slots=True)
class Board:
    """A board as sent to clients: `moves` are [x, y] in order of play."""

    id: int
    size: int
    win_length: int
    moves: list[list[int]]

    def as_dict(self) -> dict[str, Any]:
        """The board with the original's keys."""
        return {"_id": self.id, "_size": self.size, "_win_length": self.win_length, "_moves": self.moves}


@dataclass(frozen=True, slots=True)
class Salt:
    """Asks for a login."""

    salt: str

    def as_dict(self) -> dict[str, Any]:
        """`{"salt"}`."""
        return {"salt": self.salt}


@dataclass(frozen=True, slots=True)
class Ok:
    """The login succeeded: the name belongs to the player until it disconnects."""

    def as_dict(self) -> dict[str, Any]:
        """`{"status": "ok"}`."""
        return {"status": "ok"}


@dataclass(frozen=True, slots=True)
class PlayerIsFree:
    """The player may ask for an opponent."""

    def as_dict(self) -> dict[str, Any]:
        """`{"event": "player_is_free"}`."""
        return {"event": "player_is_free"}


@dataclass(frozen=True, slots=True)
class StartingGame:
    """An opponent was found."""

    against: str

    def as_dict(self) -> dict[str, Any]:
        """`{"event", "against"}`."""
        return {"event": "starting_game", "against": self.against}


@dataclass(frozen=True, slots=True)
class GetMove:
    """Asks for a move."""

    id: str
    board: Board

    def as_dict(self) -> dict[str, Any]:
        """`{"event", "id", "board"}`."""
        return {"event": "get_move", "id": self.id, "board": self.board.as_dict()}


@dataclass(frozen=True, slots=True)
class InvalidMove:
    """The move was invalid or did not arrive in time: `x` and `y` as they were sent, or None."""

    x: Any
    y: Any
    board: Board

    def as_dict(self) -> dict[str, Any]:
        """`{"event", "x", "y", "board"}`."""
        return {"event": "invalid_move", "x": self.x, "y": self.y, "board": self.board.as_dict()}


@dataclass(frozen=True, slots=True)
class Win:
    """The player has won the board."""

    board: Board

    def as_dict(self) -> dict[str, Any]:
        """`{"event", "board"}`."""
        return {"event": "win", "board": self.board.as_dict()}


@dataclass(frozen=True, slots=True)
class Lose:
    """The player has lost the board."""

    board: Board

    def as_dict(self) -> dict[str, Any]:
        """`{"event", "board"}`."""
        return {"event": "lose", "board": self.board.as_dict()}


@dataclass(frozen=True, slots=True)
class Error:
    """A message of the client is wrong, or the client is refused; never sent in a normal conversation."""

    code: str
    sentence: str

    def as_dict(self) -> dict[str, Any]:
        """`{"event", "code", "error"}`."""
        return {"event": "error", "code": self.code, "error": self.sentence}


Answer = Salt | Ok | PlayerIsFree | StartingGame | GetMove | InvalidMove | Win | Lose | Error


def encode(answer: Answer) -> bytes:
    """The message in its frame, to be sent in one write."""
    return frame(orjson.dumps(answer.as_dict()))


@dataclass(frozen=True, slots=True)
class Seen:
    """The content of an update (`wire/updates.py`) that matters to a player of this door.

    `question` identifies what an answer is for: the match and its version. `asks`: the player is on turn.
    """

    question: str
    version: int
    asks: bool
    answered: bool
    complete: bool
    victor: str | None
    reason: str
    against: str
    series: str
    board: Board

    @classmethod
    def decode(cls, update: str, player: str) -> Seen:
        """Decode an update for that player. `answered`: it replies to an invalid turn of this player."""
        message = orjson.loads(update)
        state, match, turn = message["state"], message["match"], message.get("turn") or {}
        series = match.get("series") or {"id": match["id"], "number": 0}
        return cls(
            question=f"{match['id']}-{match['version']}",
            version=match["version"],
            asks=not state["complete"] and state["nextPlayer"] == player,
            answered=turn.get("player") == player and not turn.get("valid", True),
            complete=state["complete"],
            victor=state.get("victor"),
            reason=state.get("reason", ""),
            against=next((other for other in state["players"] if other != player), ""),
            series=series["id"],
            board=Board(series["number"], state["size"], state["winLength"], state["moves"]),
        )
