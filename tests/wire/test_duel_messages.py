"""The messages of the TCP door, exactly as the protocol page has them, and what is read of a client's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from battlebot.errors import BadMessage, BadName
from battlebot.wire.duel import (
    Answer,
    Board,
    Error,
    FindOpponent,
    GetMove,
    InvalidMove,
    Lose,
    MakeMove,
    Ok,
    PlayerIsFree,
    Salt,
    Seen,
    StartingGame,
    Username,
    Win,
    decode_request,
    decode_username,
    encode,
)

BOARD = Board(15509, 15, 5, [[5, 8], [4, 0]])
SENT_BOARD = {"_id": 15509, "_size": 15, "_win_length": 5, "_moves": [[5, 8], [4, 0]]}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Salt("5a"), {"salt": "5a"}),
        (Ok(), {"status": "ok"}),
        (PlayerIsFree(), {"event": "player_is_free"}),
        (StartingGame("other.name"), {"event": "starting_game", "against": "other.name"}),
        (GetMove("m-3", BOARD), {"event": "get_move", "id": "m-3", "board": SENT_BOARD}),
        (InvalidMove("4", None, BOARD), {"event": "invalid_move", "x": "4", "y": None, "board": SENT_BOARD}),
        (Win(BOARD), {"event": "win", "board": SENT_BOARD}),
        (Lose(BOARD), {"event": "lose", "board": SENT_BOARD}),
        (Error("rate", "Too many."), {"event": "error", "code": "rate", "error": "Too many."}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_message_is_exactly_this(answer: Answer, message: dict[str, Any]) -> None:
    """Behind its length, with its keys in the original's order."""
    data = encode(answer)
    assert int.from_bytes(data[:4]) == len(data) - 4
    assert list(json.loads(data[4:]).items()) == list(message.items())


@pytest.mark.parametrize(
    ("value", "coordinate"),
    [
        *[(4, 4), (-1, -1), ("4", 4), (" 5\t", 5), ("+4", 4), ("-4", -4), ("05", 5), (4.0, 4), ("9" * 9, 10**9 - 1)],
        *[(None, None), (True, None), (2.5, None), (1e9, None), (1e30, None), ("9" * 10, None), ("", None)],
        *[("4.0", None), ("1_0", None), ("٣", None), ("x4", None), ("4 4", None), ([4], None), ({}, None)],
    ],
    ids=lambda value: ascii(value)[:14],
)
def test_a_coordinate_is_a_whole_number_however_it_is_written(value: Any, coordinate: int | None) -> None:
    """What it was is kept, to be told in `invalid_move`."""
    for x, y in ((value, 3), (3, value)):
        move = decode_request(json.dumps({"event": "make_move", "id": "m-3", "x": x, "y": y}).encode())
        places = [coordinate if given is value else 3 for given in (x, y)]
        assert move == MakeMove("m-3", places[0], places[1], (x, y))


def test_a_coordinate_too_long_to_be_told_is_not_kept() -> None:
    """The message about it must fit into a frame; a missing one is null."""
    for size, kept in ((16_376, True), (16_377, False)):
        move = decode_request(json.dumps({"event": "make_move", "id": 1, "x": "z" * size}).encode())
        assert move == MakeMove(1, None, None, ("z" * size if kept else None, None))


@pytest.mark.parametrize("event", ["find", "FIND_OPPONENT", "", None, 3, ["find_opponent"]])
def test_there_are_two_events(event: Any) -> None:
    """Others are refused with their names."""
    assert decode_request(b'{"event": "find_opponent", "x": 1}') == FindOpponent()
    with pytest.raises(BadMessage, match="find_opponent") as refused:
        decode_request(json.dumps({"event": event}).encode())
    assert refused.value.details["field"] == "event"


def test_the_first_message_is_a_name() -> None:
    """With an answer to a salt, where there is one; what is no text is none."""
    assert decode_username(b'{"username": "my.name", "x": 1}') == Username("my.name")
    assert decode_username(b'{"username": "me", "login_hash": "5a"}') == Username("me", "5a")
    assert decode_username(b'{"username": "me", "login_hash": 5}') == Username("me")
    with pytest.raises(BadMessage, match="username"):
        decode_username(b'{"event": "find_opponent"}')
    with pytest.raises(BadName, match="username"):
        decode_username(b'{"username": null}')


STATE = {"players": ["a", "b"], "nextPlayer": "a", "complete": False, "size": 15, "winLength": 5, "moves": [[5, 8]]}
ABOUT = {"id": "m", "version": 4, "series": {"id": "s", "number": 15509}}


def seen(player: str, state: dict[str, Any] | None = None, **update: Any) -> Seen:
    """What a player of this door has of an update."""
    return Seen.decode(json.dumps({"state": STATE | (state or {}), "match": ABOUT, **update}), player)


def test_an_update_is_seen_as_a_question_about_a_board() -> None:
    """By the one on turn; the other is the opponent."""
    board = Board(15509, 15, 5, [[5, 8]])
    assert seen("a") == Seen("m-4", 4, True, False, False, None, "", "b", "s", board)
    assert (seen("b").asks, seen("b").against) == (False, "a")
    alone = seen("a", match={"id": "m", "version": 4})
    assert (alone.series, alone.board.id) == ("m", 0)


@pytest.mark.parametrize(
    ("turn", "answered"),
    [
        ({"player": "a", "valid": False}, True),
        ({"player": "a", "valid": True}, False),
        ({"player": "a"}, False),
        ({"player": "b", "valid": False}, False),
        (None, False),
    ],
)
def test_an_update_may_answer_an_invalid_move(turn: dict[str, Any] | None, answered: bool) -> None:
    """Of this player."""
    assert seen("a", turn=turn).answered is answered


def test_a_board_that_is_over_asks_nobody() -> None:
    """Though the state names a next player."""
    over = seen("a", {"complete": True, "victor": "b", "reason": "complete"})
    assert (over.asks, over.complete, over.victor, over.reason) == (False, True, "b", "complete")
