"""Whole random matches of the crossword game: what holds in every state, whatever the bots do."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from turns import legal_turn

from battlebot.rules.registry import discover
from games.crossword.board import ALL_TILES, EMPTY, SIZE, as_rack, parse_position

GAME = discover()["crossword"]
# with VOID random tiles are hardly ever words: its matches are played by the samples
RULES = [rule for rule in GAME.options["challengeRule"].choices or () if rule != "VOID"]

a_few = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
matches = st.builds(lambda seed, rule: list(play(seed, rule)), st.integers(0, 2**32), st.sampled_from(RULES))

State = dict[str, Any]


def play(seed: int, rule: str) -> Iterator[tuple[State, dict[str, Any] | None]]:
    """Each state with the random turn made in it."""
    random = Random(seed)
    state = GAME.initial_state(["a", "b"], seed, {"challengeRule": rule})
    while not state["complete"]:
        turn = legal_turn(GAME, state, state["nextPlayer"], random)
        yield state, turn
        state = GAME.reducer(state, turn)
    yield state, None


@given(matches)
@a_few
def test_tiles_are_conserved(steps: list[tuple[State, Any]]) -> None:
    """Bag, racks and board hold the hundred tiles, always; no rack more than seven, none less while there is a bag."""
    for state, _ in steps:
        assert Counter(
            state["bag"] + "".join(state["racks"]) + as_rack("".join(state["board"]).replace(EMPTY, ""))
        ) == (Counter(ALL_TILES))
        assert state["bagCount"] == len(state["bag"])
        for rack in state["racks"]:
            assert len(rack) == 7 or (len(rack) < 7 and not state["bag"])


@given(matches)
@a_few
def test_the_sum_of_the_events_is_the_total(steps: list[tuple[State, Any]]) -> None:
    """Event by event, and what is said as `cumulative`."""
    state = steps[-1][0]
    totals = [0, 0]
    for event in state["events"]:
        gains = sum(event.get(name, 0) for name in ("score", "bonus", "end_rack_points"))
        totals[event["player_index"]] += gains - event.get("lost_score", 0)
        assert event["cumulative"] == totals[event["player_index"]]
    assert totals == state["scores"]


@given(matches)
@a_few
def test_a_match_replays_to_the_same_state(steps: list[tuple[State, Any]]) -> None:
    """From the seed and the turns, through JSON."""
    first, last = steps[0][0], steps[-1][0]
    state = GAME.initial_state(["a", "b"], first["seed"], {"challengeRule": first["challengeRule"]})
    for _, turn in steps[:-1]:
        sent = json.loads(json.dumps(turn))
        assert GAME.validate(state, sent)
        state = json.loads(json.dumps(GAME.reducer(state, sent)))
    assert state == last


@given(matches)
@a_few
def test_the_board_follows_from_the_events(steps: list[tuple[State, Any]]) -> None:
    """A bot that is sent the events alone, as over NATS, knows the board."""
    for state, _ in steps:
        rows = [list(EMPTY * SIZE) for _ in range(SIZE)]
        for event in state["events"]:
            if event["type"] in ("TILE_PLACEMENT_MOVE", "PHONY_TILES_RETURNED"):
                where = parse_position(event["position"])
                assert where is not None
                (row, column), down = where
                for number, tile in enumerate(event["played_tiles"]):
                    if tile != EMPTY:
                        laid = tile if event["type"] == "TILE_PLACEMENT_MOVE" else EMPTY
                        rows[row + number * down][column + number * (not down)] = laid
        assert state["board"] == ["".join(row) for row in rows]


@given(matches)
@a_few
def test_no_bot_sees_what_is_hidden(steps: list[tuple[State, Any]]) -> None:
    """Two matches that differ in the bag and in the other's rack only look alike to a bot."""
    for state, turn in steps[:-1]:
        for player, own in (("a", 0), ("b", 1), (None, None)):
            seen = GAME.view(state, player)
            changed = {**state, "bag": state["bag"][::-1], "seed": 0}
            changed["racks"] = [
                rack if number == own else rack[::-1].lower() for number, rack in enumerate(state["racks"])
            ]
            changed["events"] = [
                event if event["player_index"] == own else {**event, "rack": "#", "exchanged": "#"}
                for event in state["events"]
            ]
            assert GAME.view(changed, player) == seen
            if player and player != turn["player"]:
                assert not {"rack", "exchanged"} & GAME.view_turn({**turn, "rack": "ABC"}, player).keys()


@pytest.mark.parametrize("rule", RULES)
def test_random_play_sees_all_kinds_of_events(rule: str) -> None:
    """Else what is checked above would be checked of little."""
    kinds = {event["type"] for seed in range(12) for event in [*play(seed, rule)][-1][0]["events"]}
    assert kinds >= {"TILE_PLACEMENT_MOVE", "PHONY_TILES_RETURNED", "EXCHANGE", "PASS"}
