"""Whole random matches as histories: protobuf, GCG and the events replayed agree with the match."""

from __future__ import annotations

import time
from typing import Any

import pytest
from crossword_positions import a_state, played
from histories import from_gcg, from_protobuf
from hypothesis import given
from test_crossword_matches import GAME, a_few, matches

from battlebot.wire.macondo.gcg import to_gcg
from battlebot.wire.macondo.history import TIE, from_request, history_of, normal, request_of, to_protobuf
from games.crossword.board import as_rack, without
from games.crossword.replay import replay

# what GCG has no place for
NOT_IN_GCG = ("nickname", "is_bingo", "words_formed", "direction", "row", "column", "num_tiles_from_rack")


def short(event: dict[str, Any]) -> dict[str, Any]:
    """An event without what GCG does not tell, and without zeros."""
    return {name: value for name, value in event.items() if value and name not in NOT_IN_GCG}


@given(matches)
@a_few
def test_a_match_survives_protobuf(steps: list[tuple[dict[str, Any], Any]]) -> None:
    """At its start, in between and at its end, for every player."""
    for state, _ in (steps[0], steps[len(steps) // 2], steps[-2], steps[-1]):
        for seen in (state, *(GAME.view(state, player) for player in state["players"])):
            history = history_of(seen, "65a1b2c3d4e5f60718293a4b")
            assert from_protobuf(to_protobuf(history)) == history == normal(history)
            now = "GAME_OVER" if state["complete"] else state["playState"]
            assert history.get("play_state", "PLAYING") == now
            assert from_request(request_of(seen, history["uid"], 9999)) == (history, 9999)


def test_only_in_long_requests_events_have_no_nicknames() -> None:
    """All else is there, and whose the events are."""
    event = {"type": "PASS", "player_index": 1, "cumulative": 5}
    state = {**a_state(("AEINRST", "DEGILNO")), "events": [event] * 1000}
    short, long = ({**state, "players": ["a", "b" * size]} for size in (4, 64))
    assert from_request(request_of(short, "m", 9)) == (history_of(short, "m"), 9)
    whole = history_of(long, "m")
    assert len(to_protobuf(whole)) > 65_536 > len(request_of(long, "m", 9))
    assert from_request(request_of(long, "m", 9)) == ({**whole, "events": [event] * 1000}, 9)


def test_a_question_with_a_long_history_costs_the_server_little() -> None:
    """Much less than a history to be read: else two bots would keep a worker from all other matches."""
    told = {"type": "TILE_PLACEMENT_MOVE", "player_index": 1, "position": "8D", "played_tiles": "HELLO", "score": 9}
    state = {**a_state(("AEINRST", "DEGILNO")), "events": [{**told, "words_formed": ["HELLO"] * 5}] * 1000}

    def cost_s(whole: bool) -> float:
        began_s = time.process_time()
        assert history_of(state, "m") if whole else request_of(state, "m", 1)
        return time.process_time() - began_s

    assert min(cost_s(whole=False) for _ in range(5)) < min(cost_s(whole=True) for _ in range(5)) / 5


@given(matches)
@a_few
def test_a_match_replays_from_its_history(steps: list[tuple[dict[str, Any], Any]]) -> None:
    """Board and scores, event by event."""
    state = steps[-1][0]
    history = history_of(state)
    replayed = replay(history["events"])
    assert (replayed.board, list(replayed.scores)) == (state["board"], state["scores"])
    assert replayed.cumulative == [event["cumulative"] for event in state["events"]]
    assert history.get("final_scores", [0, 0]) == state["scores"]
    winner = None if history.get("winner", 0) == TIE else state["players"][history.get("winner", 0)]
    assert winner == state["victor"]


@given(matches)
@a_few
def test_a_match_survives_gcg(steps: list[tuple[dict[str, Any], Any]]) -> None:
    """The events, whose they are, and the final scores."""
    for state in (steps[-1][0], steps[len(steps) // 2][0]):
        history = history_of(state)
        read = from_gcg(to_gcg(history).encode())
        assert [short(event) for event in read["events"]] == [short(event) for event in history["events"]]
        same = ("players", "lexicon", "challenge_rule", "final_scores", "winner", "play_state")
        if state["complete"] and state["events"][-1]["type"].startswith("END_RACK"):
            assert {name: read.get(name) for name in same[1:]} == {name: history.get(name) for name in same[1:]}
        assert list(replay(read["events"]).scores) == state["scores"]


HELLO = {"position": "8D", "played_tiles": "HELLO"}
RETURNED = {"type": "PHONY_TILES_RETURNED"}
IMPOSSIBLE: dict[str, tuple[list[dict[str, Any]], str]] = {
    "no position": ([{**HELLO, "position": "8"}], "Event 1 cannot be: The position must"),
    "not on its rack": ([{**HELLO, "rack": "HELOXYZ"}], "Event 1 cannot be: The rack"),
    "on another tile": ([HELLO, {"position": "8D", "played_tiles": "JELLOS"}], "Event 2 cannot be: A square"),
    "nothing to take back": ([HELLO, RETURNED, RETURNED], "Event 3 cannot be: There is no play"),
    "an unknown type": ([{"type": "RESIGN"}], "Event 1 cannot be"),
    "a third player": ([{"type": "PASS", "player_index": 2}], "Event 1 cannot be"),
}


@pytest.mark.parametrize(("events", "why"), IMPOSSIBLE.values(), ids=list(IMPOSSIBLE))
def test_a_history_of_what_cannot_be_is_refused(events: list[dict[str, Any]], why: str) -> None:
    """With the number of the event."""
    with pytest.raises(ValueError, match=why):
        replay(events)


def test_an_event_without_points_is_worth_nothing() -> None:
    """A play of the first player leaves out its type and whose it is: both are zero."""
    names = ("PASS", "EXCHANGE", "CHALLENGE", "UNSUCCESSFUL_CHALLENGE_TURN_LOSS", "CHALLENGE_BONUS", "TIME_PENALTY")
    nothing = [{"type": name, "player_index": 1} for name in (*names, "END_RACK_PTS", "END_RACK_PENALTY")]
    assert replay([HELLO, *nothing]).cumulative == [24, *[0] * 8]


def test_a_bots_history_holds_its_rack_and_no_other() -> None:
    """Also not in the events."""
    state = played(a_state(("HELLOXY", "AEIRSTU")), "8D HELLO", "- AE")
    for player, own in (("Ada", 0), ("Ben", 1)):
        history = history_of(GAME.view(state, player), "m")
        assert [bool(rack) for rack in history["last_known_racks"]] == [own == 0, own == 1]
        assert [event.get("rack") for event in history["events"]] == [
            "HELLOXY" if own == 0 else "HELLO",
            "AEIRSTU" if own == 1 else None,
        ]
        assert ("exchanged" in history["events"][1]) == (own == 1)
        assert history["uid"] == "m"


@given(matches)
@a_few
def test_the_original_bot_can_replay_what_it_is_asked(steps: list[tuple[dict[str, Any], Any]]) -> None:
    """Macondo takes each play from the rack of its event, and ends in a wrong position if a tile is not in it.

    And no rack of the other player shows more than lies, or lay, on the board.
    """
    for state, _ in steps[:-1]:
        player = state["nextPlayer"]
        for event in history_of(GAME.view(state, player))["events"]:
            rack, laid = event.get("rack", ""), as_rack(event.get("played_tiles", "").replace(".", ""))
            left = without(rack, laid)
            assert left is not None
            assert not left or event["nickname"] == player


def test_the_rack_of_the_other_player_holds_the_blank_that_it_laid() -> None:
    """Not the letter for which it stands; and also when the play has been taken back."""
    state = played(a_state(("QZXJK?E", "AEIRSTU")), "8D QZeXJ", "challenge")
    laid, returned = history_of(GAME.view(state, "Ben"))["events"]
    assert (laid["type"], returned["type"]) == ("TILE_PLACEMENT_MOVE", "PHONY_TILES_RETURNED")
    assert laid["rack"] == returned["rack"] == "QZ?XJ"


def test_a_draw_has_no_winner() -> None:
    """-1, in every format."""
    history = history_of(played(a_state(("AEIRSTU", "AEINSTU")), *["pass"] * 6))
    assert (
        history["winner"] == from_protobuf(to_protobuf(history))["winner"] == from_gcg(to_gcg(history))["winner"] == -1
    )


def test_a_match_that_is_broken_off_is_over_all_the_same() -> None:
    """A bot that ran out of time has lost, whatever the scores are."""
    state = played(a_state(("HELLOXY", "AEIRSTU")), "8D HELLO")
    history = history_of({**state, "complete": True, "victor": "Ben", "reason": "timeout"})
    assert (history["play_state"], history["winner"], history["final_scores"]) == ("GAME_OVER", 1, [24, 0])
    assert "#incomplete" not in to_gcg(history)


def test_the_text_of_a_match() -> None:
    """Line by line, as other programs read it; a name with a space has another in front."""
    state = played(a_state(("HELLO", "AEIRSTU"), bag=""), "8D LOHEL", "challenge", "8G AT", "F8 HELLO", "challenge")
    state |= {"players": ["Ada L", "Ben"], "victor": "Ada L"}
    assert to_gcg(history_of(state, "m1")).splitlines() == [
        "#character-encoding UTF-8",
        "#player1 Ada_L Ada L",
        "#player2 Ben Ben",
        "#id battlebot m1",
        "#lexicon enable1",
        "#note challenge rule: DOUBLE",
        ">Ada_L: HELLO 8D LOHEL +18 18",
        ">Ada_L: HELLO -- -18 0",
        ">Ben: AEIRSTU 8G AT +4 4",
        ">Ada_L: HELLO F8 HELLO +16 16",
        ">Ben: EIRSU - +0 4",
        "#note challenged in vain",
        ">Ada_L: (EIRSU) +10 26",
    ]
