"""What every registered game owes, whatever its rules: a file dropped into games/ is tested here with no other edit."""

from __future__ import annotations

import json
from copy import deepcopy
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from battlebot.rules.contract import RESERVED_OF_A_STATE, Game
from battlebot.rules.registry import discover
from battlebot.storable import problem_of_storing

GAMES = discover()
SEEDS = range(8)

every_game = pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
a_few_examples = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 9),
    st.sampled_from(
        [10**400, -(10**400), 1.0, 1e0, -0.0, 0.5, 1e308, float("inf"), float("nan"), "X", "O", "", "player"]
    ),
    st.floats(),
    st.text(max_size=8),
)
hostile = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def deep(levels: int) -> Any:
    """Lists in lists."""
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


@every_game
def test_no_function_changes_what_it_is_given(game: Game, random_play: Any) -> None:
    """The referee keeps the old state until the new one is committed."""
    for seed in SEEDS:
        for state, turn in random_play(game, seed):
            turns = [turn] if turn else []
            before = deepcopy((state, turns))
            for one in turns:
                game.validate(state, one)
                game.reducer(state, one)
                game.explain(state, one)
                if game.goes_on_without:
                    game.forfeit(state, one["player"], "late")
            for player in (None, *state["players"]):
                game.view(state, player)
            game.render(state)
            assert (state, turns) == before


@every_game
def test_a_state_survives_json(game: Game, random_play: Any) -> None:
    """States live in Redis and MongoDB and travel to bots; none may come back changed."""
    for seed in SEEDS:
        for state, _ in random_play(game, seed):
            for seen in (state, game.view(state, None), *(game.view(state, player) for player in state["players"])):
                assert json.loads(json.dumps(seen, allow_nan=False)) == seen
                assert problem_of_storing(seen) is None


@every_game
def test_a_match_replays_from_its_seed_and_turns(game: Game, random_play: Any) -> None:
    """The same seed gives the same start; the same turns, read back from JSON, the same end."""
    for seed in SEEDS:
        steps = list(random_play(game, seed))
        state = game.initial_state(list(steps[0][0]["players"]), seed, {})
        assert state == steps[0][0]
        for (_, turn), (after, _) in pairwise(steps):
            state = game.reducer(json.loads(json.dumps(state)), json.loads(json.dumps(turn)))
            assert state == after


@every_game
def test_a_turn_not_made_leaves_no_trace(game: Game, random_play: Any) -> None:
    """A lost race of two nodes means stepping again from the old state: it must give what it gave before."""
    steps = list(random_play(game, 1))
    for state, turn in reversed(steps[:-1]):
        assert game.validate(state, turn)
        assert game.reducer(state, turn) == game.reducer(state, turn)


@every_game
def test_every_state_has_what_a_bot_reads(game: Game, random_play: Any) -> None:
    """players, nextPlayer and complete always; victor and reason if and only if complete; the same in every view."""
    for seed in SEEDS:
        for state, _ in random_play(game, seed):
            for seen in (state, game.view(state, None), *(game.view(state, player) for player in state["players"])):
                assert seen["players"] == state["players"]
                assert seen["nextPlayer"] in state["players"] or (game.simultaneous and seen["nextPlayer"] is None)
                assert type(seen["complete"]) is bool
                assert seen["complete"] == state["complete"] == ("victor" in seen) == ("reason" in seen)
                assert seen.get("victor") in (None, *state["players"])
                assert seen.get("reason", "complete") == "complete"


@every_game
def test_no_state_uses_a_name_that_is_taken(game: Game, random_play: Any) -> None:
    """What is stored of a match would lose it."""
    for seed in SEEDS:
        for state, _ in random_play(game, seed):
            assert RESERVED_OF_A_STATE.isdisjoint(state)


@every_game
def test_somebody_is_awaited_until_the_match_is_complete(game: Game, random_play: Any) -> None:
    """A match that waits for nobody would have no deadline and never end."""
    for seed in SEEDS:
        for state, _ in random_play(game, seed):
            awaited = game.awaited(state)
            assert set(awaited) <= set(state["players"])
            assert bool(awaited) is not state["complete"]


@every_game
def test_a_bot_out_of_turn_never_has_a_valid_turn(game: Game, random_play: Any) -> None:
    """Nor has a stranger, nor anybody once the match is complete."""
    for seed in SEEDS:
        last_turn = None
        for state, turn in random_play(game, seed):
            last_turn = turn or last_turn
            others = {"stranger", "", *state["players"]} - set(game.awaited(state))
            for other in others:
                assert not game.validate(state, {**last_turn, "player": other})
                assert game.explain(state, {**last_turn, "player": other}).strip()


@every_game
def test_keys_that_a_game_does_not_know_change_nothing(game: Game, random_play: Any) -> None:
    """Bots send their own keys along; they are echoed and otherwise left alone."""
    for state, turn in random_play(game, 2):
        if turn is None:
            continue
        chatty = {**turn, "time": 1, "valid": False, "version": 3, "match": "m", "comment": {"a": [None, 10**400]}}
        assert game.validate(state, chatty)
        assert game.reducer(state, chatty) == game.reducer(state, turn)


@every_game
@given(data=st.data())
@a_few_examples
def test_validate_takes_any_json(game: Game, data: st.DataObject) -> None:
    """Any value in any field gives a bool, and a sentence where it is False; a turn called valid can be made."""
    state = game.initial_state([f"bot {n}" for n in range(game.min_players)], 0, {})
    mover = game.awaited(state)[0]
    fields = {**(game.example_turn or {})}
    for key in fields:
        if data.draw(st.booleans()):
            fields[key] = data.draw(hostile)
    if fields and data.draw(st.booleans()):
        del fields[data.draw(st.sampled_from(sorted(fields)))]
    turn = {**data.draw(st.dictionaries(st.text(max_size=6), hostile, max_size=3)), **fields, "player": mover}
    answer = game.validate(state, turn)
    assert isinstance(answer, bool)
    if answer:
        json.dumps(game.reducer(state, turn), allow_nan=False)
    else:
        assert game.explain(state, turn).strip()


@every_game
@pytest.mark.parametrize(
    "value",
    [deep(150), {"a": deep(150)}, 10**5000, "x" * 10_000, [0] * 10_000],
    ids=["deep", "deep dict", "huge", "long text", "long list"],
)
def test_validate_takes_large_values(game: Game, value: Any) -> None:
    """Deep, long and huge values are answered, and explained without being repeated."""
    state = game.initial_state([f"bot {n}" for n in range(game.min_players)], 0, {})
    mover = game.awaited(state)[0]
    for key in game.example_turn or {"x": 0}:
        turn = {**(game.example_turn or {}), key: value, "player": mover}
        assert game.validate(state, turn) or 0 < len(game.explain(state, turn)) < 500


@every_game
@pytest.mark.parametrize("player", [None, [], {}, 0, True, "stranger"], ids=repr)
def test_a_turn_of_nobody_is_refused(game: Game, player: Any) -> None:
    """Whatever stands where the server puts the bot's id."""
    state = game.initial_state([f"bot {n}" for n in range(game.min_players)], 0, {})
    turn = {**(game.example_turn or {}), "player": player}
    assert game.validate(state, turn) is False
    assert game.explain(state, turn).strip()


@every_game
def test_names_of_bots_may_be_odd(game: Game, random_play: Any) -> None:
    """A bot may be called as a mark or a key is."""
    names = ["O", "X", "complete", "victor", "日本", "null", " "]
    names = [*names, *(f"bot {n}" for n in range(game.min_players))][: game.min_players]
    *_, (state, _) = random_play(game, 3, names)
    assert state["players"] == names


@every_game
def test_what_a_bot_sees_of_anothers_turn_is_a_part_of_it(game: Game, random_play: Any) -> None:
    """All of its own; of another's nothing that is not there, and always whose it is."""
    for state, turn in random_play(game, 5):
        for player in state["players"] if turn else ():
            sent = {**turn, "time": 1, "valid": True}
            seen = game.view_turn(deepcopy(sent), player)
            assert seen.items() <= sent.items()
            assert {"player", "time", "valid"} <= seen.keys()
            assert seen == sent or player != turn["player"]


@every_game
def test_what_pages_show_has_its_shape(game: Game, random_play: Any) -> None:
    """Of any state, as viewers see it and as the record has it; nothing, where the game leaves it to the pages."""
    for state, _ in random_play(game, 6):
        for seen in (state, game.view(state, None)):
            before = deepcopy(seen)
            shown = game.show(seen)
            assert seen == before
            if shown is None:
                continue
            assert json.loads(json.dumps(shown)) == shown
            assert [len(row) for row in shown["board"]] == [len(shown["columns"])] * len(shown["rows"])
            assert all(set(space) == {"text", "kind"} for row in shown["board"] for space in row)
            for table in shown["tables"]:
                assert {len(row) for row in table["rows"]} <= {len(table["head"])}
                assert set(table["numbers"]) <= set(range(len(table["head"])))


@every_game
def test_random_play_renders(game: Game, random_play: Any) -> None:
    """Each state can be written as text for logs."""
    for state, _ in random_play(game, 4):
        assert game.render(state).strip()
