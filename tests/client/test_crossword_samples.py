"""The sample bots of crossword: whole matches by the game's own rules, decided from histories alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from histories import from_protobuf

from battlebot.client.bot import Bot
from battlebot.client.samples.crossword import greedy
from battlebot.client.samples.crossword.challenger import Challenger
from battlebot.client.samples.crossword.greedy import Greedy
from battlebot.client.samples.crossword.leaves import without, worth
from battlebot.client.samples.crossword.position import position_of
from battlebot.wire.macondo.history import history_of, to_protobuf
from games import crossword

PLAYERS = ["Ada", "Ben"]
RULES = tuple(crossword.GAME["options"]["challengeRule"]["choices"])

Decide = Callable[[Mapping[str, Any]], dict[str, Any]]


def match(first: Decide, second: Decide, rule: str = "DOUBLE", seed: int = 1) -> list[dict[str, Any]]:
    """All states of a match between two deciders, each asked as over NATS: by protobuf. No turn may be invalid."""
    state = crossword.initial_state(PLAYERS, seed, {"challengeRule": rule, "lexicon": "enable1"})
    states = [state]
    while not state["complete"]:
        player = state["nextPlayer"]
        view = json.loads(json.dumps(crossword.view(state, player)))
        history = from_protobuf(to_protobuf(history_of(view, "m")))
        check_position(state, history, PLAYERS.index(player))
        turn = {**(first, second)[PLAYERS.index(player)](history), "player": player}
        assert crossword.validate(state, turn), (turn, crossword.explain(state, turn))
        state = crossword.reducer(state, turn)
        states.append(state)
    return states


def check_position(state: dict[str, Any], history: dict[str, Any], own: int) -> None:
    """What a bot reads off a history is what is."""
    position = position_of(history)
    assert position.board == state["board"]
    assert position.rack == state["racks"][own]
    assert position.bag == state["bagCount"]
    assert position.open_words == (state["lastPlay"] or {"words": []})["words"]
    assert position.final == (state["playState"] == "WAITING_FOR_FINAL_PASS")


def kinds(states: list[dict[str, Any]]) -> set[str]:
    """The types of a match's events."""
    return {event["type"] for event in states[-1]["events"]}


@pytest.mark.parametrize("rule", RULES)
def test_greedy_against_the_challenger_under_each_rule(rule: str) -> None:
    """No invalid turn, and an end by the rules; greedy lets no phony stand."""
    # under TRIPLE the first challenge in vain would be the end
    challenges = 0.0 if rule == "TRIPLE" else 0.2
    states = match(greedy.decide, Challenger(challenges=challenges, seed=1).decide, rule)
    over = states[-1]
    assert over["reason"] == "complete"
    phonies = sum(event["type"] == "PHONY_TILES_RETURNED" for event in over["events"])
    assert (phonies > 0) == (rule != "VOID")


def test_the_challenger_challenges_in_vain_and_rightly() -> None:
    """Under DOUBLE both cost somebody a turn."""
    states = match(Challenger(seed=3).decide, Challenger(seed=4).decide)
    assert kinds(states) >= {"PHONY_TILES_RETURNED", "UNSUCCESSFUL_CHALLENGE_TURN_LOSS", "TILE_PLACEMENT_MOVE"}


def test_two_greedy_bots_play_as_people_in_tournaments_do() -> None:
    """About 400 points each, nothing to challenge; the end is a rack played out."""
    scores = []
    for seed in range(3):
        states = match(greedy.decide, greedy.decide, seed=seed)
        assert "PHONY_TILES_RETURNED" not in kinds(states)
        assert states[-1]["events"][-1]["type"] == "END_RACK_PTS"
        scores += states[-1]["scores"]
    assert 330 < sum(scores) / len(scores) < 480


def test_greedy_decides_by_the_history_alone() -> None:
    """The same history, the same event: it can be asked again."""
    for state in match(greedy.decide, greedy.decide)[:6]:
        history = history_of(crossword.view(state, state["nextPlayer"]))
        if "?" not in state["racks"][PLAYERS.index(state["nextPlayer"])]:
            assert greedy.decide(history) == greedy.decide(history)


def test_greedy_exchanges_what_is_no_good_and_passes_where_nothing_is_left() -> None:
    """Tiles to keep are kept; with fewer than seven in the bag there is no exchange."""
    state = crossword.initial_state(PLAYERS, 1, {"challengeRule": "DOUBLE", "lexicon": "enable1"})
    state = {**state, "racks": ["QVVUUII", ""]}
    event = greedy.decide(history_of(state))
    assert event["type"] == "EXCHANGE"
    assert {"V", "U", "I"} <= set(event["exchanged"])
    position = position_of(history_of(state))
    position.bag = 6
    assert greedy.best_event(greedy.graph_of("enable1"), position) == {"type": "PASS"}


def test_leaves() -> None:
    """A blank is worth most, pairs and a bare Q little."""
    assert worth("?") > worth("S") > worth("E") > worth("V") > worth("Q")
    assert worth("EE") < 2 * worth("E")
    assert worth("QU") > worth("Q") + worth("U")
    assert without("HELLO?", "L?") == "HELO"


@pytest.mark.parametrize("bot", [Greedy(), Challenger(seed=1)], ids=["greedy", "challenger"])
def test_a_bot_of_the_sdk_decides_on_the_state(bot: Bot) -> None:
    """What it is sent over WebSocket is made a history of."""
    state = crossword.initial_state(PLAYERS, 1, {"challengeRule": "VOID", "lexicon": "enable1"})
    bot.bot_id = "Ada"
    turn = {**bot.choose(crossword.view(state, "Ada")), "player": "Ada"}
    assert turn["type"] == "TILE_PLACEMENT_MOVE"
    assert crossword.validate(state, turn)
