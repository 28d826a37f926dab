"""Histories: made from a state of the crossword game, and converted to protobuf. Macondo's messages about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from google.protobuf.message import DecodeError, Message

from battlebot.errors import BadMessage
from battlebot.wire.macondo import macondo_pb2
from battlebot.wire.plaintext import spelled_out

History = dict[str, Any]
Event = dict[str, Any]

GAME = "crossword"
VERSION = 2  # of Macondo's histories: the first of `players` moved first
AUTHORITY = "battlebot"
TIE = -1
LONG = 65_536  # bytes of a request, which no match has that is played to be won
KINDS = macondo_pb2.GameEvent.Type
ANSWERED = ("position", "played_tiles", "exchanged", "rack")  # the fields of a bot's event that count, with its type
SHOWS_TILES = ("TILE_PLACEMENT_MOVE", "PHONY_TILES_RETURNED")
ALWAYS = {"type": "TILE_PLACEMENT_MOVE", "player_index": 0}  # fields that an event keeps even if zero on the wire


def history_of(state: Mapping[str, Any], uid: str = "") -> History:
    """The history of a match from `state`: a player's view holds only that player's rack, a final state all racks.

    In a view, the rack in another player's event is the tiles that it shows lying on the board, no others.
    `uid` identifies the history: it is the match's id, except in histories that the server sends to bots.
    """
    return normal(_fields_of(state, uid))


def request_of(state: Mapping[str, Any], uid: str, millis_remaining: int) -> bytes:
    """A BotRequest: the history that `history_of` makes, and the bot's thinking time in milliseconds.

    Made without the history, many times as fast: the server makes one for each turn, of a thousand events perhaps. One
    that is `LONG` has no nicknames in its events: names may make up most of it, and NATS limits a message.
    """
    request = macondo_pb2.BotRequest(game_history=_fields_of(state, uid), millis_remaining=millis_remaining)
    if request.ByteSize() > LONG:
        for event in request.game_history.events:
            event.ClearField("nickname")
    return _bytes(request)


def normal(history: Mapping[str, Any]) -> History:
    """The history without zero and empty fields except those in ALWAYS. Raises BadMessage if it is not a history."""
    return _history(_message(history, macondo_pb2.GameHistory()))


def to_protobuf(history: Mapping[str, Any]) -> bytes:
    """The bytes of a GameHistory; equal histories give equal bytes. Raises BadMessage."""
    return _bytes(_message(history, macondo_pb2.GameHistory()))


def from_request(data: bytes) -> tuple[History, int]:
    """The history and the milliseconds of a BotRequest. Raises BadMessage."""
    request = _read(data, macondo_pb2.BotRequest())
    return _history(request.game_history), int(request.millis_remaining)


def to_response(event: Mapping[str, Any] | None, error: str = "", uid: str = "") -> bytes:
    """A BotResponse to the history of that uid: an event, or the error why there is none. Raises BadMessage."""
    answer = {"error": error} if event is None else {"move": dict(event)}
    return _bytes(_message({**answer, "game_id": uid}, macondo_pb2.BotResponse()))


def from_response(data: bytes) -> Event:
    """The event of a BotResponse, reduced to its `type` and the non-empty fields of ANSWERED.

    Raises BadMessage if the response is unreadable or empty, or reports an error.
    """
    message = _read(data, macondo_pb2.BotResponse())
    answer = message.WhichOneof("response")
    if answer is None:
        raise BadMessage("The answer holds neither a move nor an error.")
    if answer == "error":
        raise BadMessage(f"The bot says: {spelled_out(message.error[:200])}")
    move = message.move
    kind = KINDS.Name(move.type) if move.type in KINDS.values() else move.type
    return {"type": kind, **{name: value for name in ANSWERED if (value := getattr(move, name))}}


def _fields_of(state: Mapping[str, Any], uid: str) -> History:
    """The history before it is normal."""
    players = state["players"]
    history: History = {
        "version": VERSION,
        "id_auth": AUTHORITY,
        "uid": uid,
        "players": [{"nickname": name, "real_name": name, "user_id": name} for name in players],
        "lexicon": state["lexicon"],
        "challenge_rule": state["challengeRule"],
        "play_state": "GAME_OVER" if state["complete"] else state["playState"],
        "events": [{"nickname": players[event["player_index"]], **_with_rack(event)} for event in state["events"]],
        "last_known_racks": list(state["racks"]),
        "variant": "classic",
        "board_layout": "CrosswordGame",
        "letter_distribution": "english",
    }
    if state["complete"]:
        victor = state["victor"]
        history |= {"final_scores": list(state["scores"]), "winner": TIE if victor is None else players.index(victor)}
    return history


def _with_rack(event: Event) -> Event:
    """The event; one that shows tiles but not their rack gets these as its rack: Macondo replays no play without."""
    if "rack" in event or event["type"] not in SHOWS_TILES:
        return event
    tiles = event["played_tiles"].replace(".", "")
    return {**event, "rack": "".join("?" if tile.islower() else tile for tile in tiles)}


def _message(fields: Mapping[str, Any], message: Message) -> Any:
    try:
        return ParseDict(fields, message)
    except ParseError as error:
        raise BadMessage(f"This is no {message.DESCRIPTOR.name}: {str(error)[:200]}") from None


def _read(data: bytes, message: Message) -> Any:
    try:
        message.ParseFromString(data)
    except DecodeError:
        raise BadMessage(f"This is no {message.DESCRIPTOR.name} in protobuf.") from None
    return message


def _bytes(message: Any) -> bytes:
    data: bytes = message.SerializeToString(deterministic=True)
    return data


def _history(message: Message) -> History:
    history = _as_dict(message)
    return {**history, "events": [{**ALWAYS, **event} for event in history.get("events", ())]}


def _as_dict(message: Message) -> dict[str, Any]:
    fields: dict[str, Any] = MessageToDict(message, preserving_proto_field_name=True)
    return fields
