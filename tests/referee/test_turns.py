"""Turns: who is told what of a valid one and of an invalid one, and what a bot cannot forge."""

from __future__ import annotations

from typing import Any

import pytest
from matches import GAMES, NOUGHTS, START_S, Play, a_match
from msgspec.structs import replace

from battlebot.referee.events import Joined
from battlebot.referee.match import Seat
from battlebot.referee.step import start
from battlebot.referee.telling import update_for


def test_what_a_turn_tells_of_secrets_is_told_to_its_bot_alone() -> None:
    """Until the match is over: then everybody may know what was put back into the bag."""
    play = Play(GAMES["crossword"])
    rack = play.match.state["racks"][0]
    play.turn("a", type="EXCHANGE", exchanged=rack[:2], rack=rack, comment="mine")
    own, others = (message["turn"] for _, message in play.messages())
    assert (own["exchanged"], own["rack"]) == (rack[:2], rack)
    assert others == {key: value for key, value in own.items() if key not in ("exchanged", "rack")}
    play.event(Joined("b", "b/2"))
    assert ["turn" in message for _, message in play.messages()] == [False]
    for number in range(4):
        play.turn("ba"[number % 2], type="PASS")
    rack = play.match.state["racks"][1]
    play.turn("b", type="EXCHANGE", exchanged=rack[0])
    assert play.verdict()[1] == "complete"
    assert [message["turn"]["exchanged"] for _, message in play.messages()] == [rack[0]] * 2


def test_a_new_match_is_started_with_the_games_first_state() -> None:
    """And with the clock of who is to move."""
    match = replace(a_match(NOUGHTS), state={}, due_s=None, seats=tuple(Seat(bot, f"{bot}/1", 3.0) for bot in "ab"))
    assert start(NOUGHTS, match, START_S).match == a_match(NOUGHTS)


def test_a_match_begins_without_turn_victor_and_reason() -> None:
    """Protocol page, 5: the first update is the state alone, and asks the first player."""
    play = Play(NOUGHTS)
    first, second = (update_for(play.game, play.match, seat) for seat in play.match.seats)
    assert first.state == {
        "players": ["a", "b"],
        "nextPlayer": "a",
        "complete": False,
        "board": [["", "", ""]] * 3,
        "marks": {"X": "a", "O": "b"},
    }
    assert (first.turn, first.code, first.fault, first.final) == (None, None, None, False)
    assert (first.asks, second.asks) == (True, False)
    assert first.remaining_s == first.turn_timeout_s == 3.0


def test_a_valid_turn_goes_to_both() -> None:
    """Protocol page, 6: the bot's turn plus player, time and valid, with the state after it."""
    play = Play(NOUGHTS)
    play.turn("a", 0.5, mark="X", space=[1, 1])
    turn = {"mark": "X", "space": [1, 1], "player": "a", "time": int((START_S + 0.5) * 1000), "valid": True}
    assert [(bot, message["turn"]) for bot, message in play.messages()] == [("a", turn), ("b", turn)]
    for _, message in play.messages():
        assert message["state"]["board"][1][1] == "X"
        assert message["state"]["nextPlayer"] == "b"
        assert message["match"]["version"] == 1
    assert [update.asks for update in play.last.updates] == [False, True]


@pytest.mark.parametrize(
    "turn",
    [
        {},
        {"mark": "O", "space": [0, 0]},
        {"mark": "X", "space": [3, 0]},
        {"mark": "X", "space": [1.0, 1]},
        {"mark": "X", "space": [True, True]},
        {"mark": "X", "space": "11"},
        {"mark": ["X"], "space": [1, 1]},
        {"state": {"complete": True, "victor": "a"}},
    ],
    ids=repr,
)
def test_an_invalid_turn_goes_only_to_its_bot_with_the_unchanged_state(turn: dict[str, Any]) -> None:
    """Protocol page, 6; it costs a strike, and we say why."""
    play = Play(NOUGHTS)
    state = play.match.state
    play.turn("a", 0.5, **turn)
    ((bot, message),) = play.messages()
    assert bot == "a"
    assert message["state"] == state == play.match.state
    assert message["turn"] == {**turn, "player": "a", "time": int((START_S + 0.5) * 1000), "valid": False}
    assert message["code"] == "invalid-turn"
    assert message["error"]
    assert message["match"]["strikes"] == 1
    assert play.match.version == 0
    assert play.recorded == []


FORGED = {"player": "b", "time": 1, "valid": True}


@pytest.mark.parametrize(
    "forged", [FORGED, {"player": None}, {"time": "now"}, {"valid": False}, {"valid": 7}], ids=repr
)
def test_the_servers_values_win_over_forged_ones(forged: dict[str, Any]) -> None:
    """In the echo of a valid turn and of an invalid one, and in the record."""
    play = Play()
    play.turn("a", 0.5, n=1, **forged)
    now_ms = int((START_S + 0.5) * 1000)
    assert play.messages()[1][1]["turn"] == {"n": 1, "player": "a", "time": now_ms, "valid": True}
    assert [row["turn"] for row in play.recorded] == [{"n": 1, "player": "a", "time": now_ms}]
    play.turn("b", 0.0, n="one", **forged)
    assert play.messages()[0][1]["turn"] == {"n": "one", "player": "b", "time": now_ms, "valid": False}


def test_a_bot_cannot_move_for_the_other() -> None:
    """The player is the one whose connection it is."""
    play = Play()
    play.turn("b", n=1, player="a")
    ((bot, message),) = play.messages()
    assert (bot, message["turn"]["player"], message["turn"]["valid"]) == ("b", "b", False)
    assert message["error"] == "It is not your turn: the match waits for a."


def test_keys_of_the_bots_own_are_kept_in_the_echo_and_the_record() -> None:
    """Protocol page, 6."""
    play = Play()
    own = {"comment": "hä?", "depth": 3, "tree": {"a": [None, True]}, "state": 1, "match": "m"}
    play.turn("a", n=1, **own)
    for _, message in play.messages():
        assert message["turn"].items() >= own.items()
    assert play.recorded[0]["turn"].items() >= own.items()
    assert play.match.state["board"] == {"n": 1}


def test_the_record_has_valid_turns_only_and_no_valid_key() -> None:
    """As a stored game has them (protocol page, REST)."""
    play = Play()
    play.turn("a", n="x")
    play.turn("b", n=1)
    play.turn("a", n=2)
    play.garbage("b")
    play.turn("b", n=-1)
    assert [row["turn"]["n"] for row in play.recorded] == [2, -1]
    assert all(row["turn"].keys() == {"n", "player", "time"} for row in play.recorded)


def test_the_game_ends_the_match() -> None:
    """Protocol page, 7: complete, victor, reason; the turn that did it is in the last update of both."""
    play = Play()
    play.turn("a", n=10)
    assert play.verdict() == ("a", "complete", "none")
    for _, message in play.messages():
        assert message["state"].items() >= {"complete": True, "victor": "a", "reason": "complete"}.items()
        assert message["turn"]["valid"] is True
        assert message["match"]["fault"] == "none"


def test_a_draw_has_the_key_victor_with_null() -> None:
    """Original clients index it."""
    play = Play(NOUGHTS)
    spaces = [(0, 0), (1, 1), (0, 2), (0, 1), (2, 1), (1, 0), (1, 2), (2, 2), (2, 0)]
    for number, (row, column) in enumerate(spaces):
        play.turn("ab"[number % 2], mark="XO"[number % 2], space=[row, column])
    assert play.verdict() == (None, "complete", "none")
    for _, message in play.messages():
        assert message["state"]["victor"] is None


def test_a_stranger_changes_nothing_and_is_told_nothing() -> None:
    """Who has no seat has no match."""
    play = Play()
    before = play.match
    assert play.turn("c", n=1).updates == ()
    assert play.match is before


def test_a_turn_that_takes_exactly_the_limit_counts() -> None:
    """ "within 3 s" includes 3 s."""
    play = Play()
    play.turn("a", 3.0, n=1)
    assert play.match.version == 1


def test_seats_and_limits_come_from_the_match() -> None:
    """A change of settings changes no running match."""
    match = a_match(turn_timeout_s=0.2, max_strikes=7)
    update = update_for(Play().game, match, match.seats[0])
    assert (update.turn_timeout_s, update.remaining_s) == (0.2, 0.2)
