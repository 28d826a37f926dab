"""Battle-cubed, case by case, from the protocol page's order of a tick."""

from __future__ import annotations

from typing import Any

import pytest

from battlebot.errors import BadMessage
from battlebot.rules.contract import Game, State
from battlebot.rules.registry import discover
from battlebot.storable import problem_of_size, problem_of_storing
from battlebot.wire.jsontext import encode
from games.battlecube.ticks import MOST_BOMBS

GAME: Game = discover()["battlecube"]
NOOP = {"task": "NOOP"}
OUT, CRASH, BOMB = "Player moved out of bounds", "Player crashed to other player", "Player stepped on a BOMB"

Cell = tuple[int, int, int]


def move(direction: str) -> dict[str, Any]:
    """A MOVE."""
    return {"task": "MOVE", "direction": direction}


def bomb(x: int, y: int, z: int, task: str = "PLACE_BOMB") -> dict[str, Any]:
    """A bomb, by either of its names."""
    return {"task": task, "x": x, "y": y, "z": z}


def start(cells: dict[str, Cell], **options: Any) -> State:
    """A match with the players where they are put."""
    positions = [{"name": name, "x": x, "y": y, "z": z} for name, (x, y, z) in cells.items()]
    return GAME.initial_state(list(cells), 7, {"edgeLength": 4, "playerStartPositions": positions, **options})


def play(state: State, **tasks: Any) -> State:
    """One sequence: each player's task, or list of tasks; None: no answer that counts."""
    for name in list(state["waitingFor"]):
        task = tasks.get(name, NOOP)
        if task is None:
            state = GAME.forfeit(state, name, "no answer")
            continue
        many = task if isinstance(task, list) else [task] * state["numOfTasksPerTick"]
        turn = {"player": name, "tasks": many}
        assert GAME.validate(state, turn), GAME.explain(state, turn)
        state = GAME.reducer(state, turn)
    return state


def where(state: State) -> dict[str, Cell]:
    """The cells of those in play."""
    return {row["name"]: (row["x"], row["y"], row["z"]) for row in state["positions"]}


def lost(state: State) -> dict[str, str]:
    """The causes of those who have lost, in the order of losing."""
    return {row["name"]: row["cause"] for row in state["lost"]}


def events(state: State) -> list[str]:
    """The names of the last sequence's events."""
    return [name for name, _ in state["events"]]


FAR = {"far": (3, 3, 3)}

# a name for the case: where all stand, what they do, who loses why, where the bombs are afterwards
CASES: dict[str, tuple[dict[str, Cell], dict[str, Any], dict[str, str], list[Cell]]] = {
    "a step": ({"a": (0, 0, 0), **FAR}, {"a": move("+X")}, {}, []),
    "out of the grid": ({"a": (0, 0, 0), "b": (1, 1, 1), **FAR}, {"a": move("-Y")}, {"a": OUT}, []),
    "two into one cell": (
        {"a": (0, 0, 0), "b": (2, 0, 0), **FAR},
        {"a": move("+X"), "b": move("-X")},
        {"a": CRASH, "b": CRASH},
        [],
    ),
    "into one that stands": ({"a": (0, 0, 0), "b": (1, 0, 0), **FAR}, {"a": move("+X")}, {"a": CRASH, "b": CRASH}, []),
    "a swap passes": ({"a": (0, 0, 0), "b": (1, 0, 0), **FAR}, {"a": move("+X"), "b": move("-X")}, {}, []),
    "three into one cell": (
        {"a": (0, 1, 0), "b": (2, 1, 0), "c": (1, 0, 0), **FAR},
        {"a": move("+X"), "b": move("-X"), "c": move("+Y")},
        {"a": CRASH, "b": CRASH, "c": CRASH},
        [],
    ),
    "a bomb placed first under one that moves": (
        {"a": (0, 0, 0), "b": (2, 0, 0), **FAR},
        {"a": bomb(1, 0, 0), "b": move("-X")},
        {"b": BOMB},
        [],
    ),
    "a bomb placed afterwards under one that moved": (
        {"a": (0, 0, 0), "b": (2, 0, 0), **FAR},
        {"a": move("+X"), "b": bomb(1, 0, 0)},
        {"a": BOMB},
        [],
    ),
    "one's own bomb": ({"a": (0, 0, 0), "b": (2, 2, 2), **FAR}, {"a": bomb(0, 0, 0)}, {"a": BOMB}, []),
    "several in one explosion, and the bomb wins": (
        {"a": (0, 0, 0), "b": (2, 0, 0), "c": (2, 2, 2), **FAR},
        {"a": move("+X"), "b": move("-X"), "c": bomb(1, 0, 0)},
        {"a": BOMB, "b": BOMB},
        [],
    ),
    "a bomb that hits nobody stays": ({"a": (0, 0, 0), **FAR}, {"a": bomb(2, 2, 2)}, {}, [(2, 2, 2)]),
    "the program's word for a bomb": ({"a": (0, 0, 0), **FAR}, {"a": bomb(2, 2, 2, "BOMB")}, {}, [(2, 2, 2)]),
    "two bombs in a cell are one": (
        {"a": (0, 0, 0), **FAR},
        {"a": bomb(2, 2, 2), "far": bomb(2, 2, 2)},
        {},
        [(2, 2, 2)],
    ),
    "a bomb outside has no effect": ({"a": (0, 0, 0), **FAR}, {"a": bomb(4, 0, 0)}, {}, []),
    "no answer": ({"a": (0, 0, 0), "b": (1, 1, 1), **FAR}, {"a": None}, {"a": "no answer"}, []),
    "who lost by its answer still stands there": (
        {"a": (0, 0, 0), "b": (1, 0, 0), "c": (2, 2, 2), **FAR},
        {"a": None, "b": move("-X")},
        {"a": "no answer", "b": CRASH},
        [],
    ),
    "who left the grid collides with nobody": (
        {"a": (0, 0, 0), "b": (0, 1, 0), "c": (2, 2, 2), **FAR},
        {"a": move("-X"), "b": move("-Y")},
        {"a": OUT},
        [],
    ),
}


@pytest.mark.parametrize(("cells", "tasks", "losers", "bombs"), CASES.values(), ids=list(CASES))
def test_a_tick(cells: dict[str, Cell], tasks: dict[str, Any], losers: dict[str, str], bombs: list[Cell]) -> None:
    """Who loses why, each once, on tick 0; what lies where afterwards."""
    after = play(start(cells), **tasks)
    assert lost(after) == losers
    assert {row["score"] for row in after["lost"]} <= {0}
    assert [(item["x"], item["y"], item["z"]) for item in after["items"]] == bombs
    assert set(where(after)) == set(cells) - set(losers)
    assert after["currentTick"] == 1
    told = [{"name": name, "cause": cause} for name, cause in lost(after).items()]
    assert [body for name, body in after["events"] if name == "PLAYER_LOST"] == told


def test_of_more_bombs_than_may_lie_the_last_ones_have_no_effect() -> None:
    """There is room again when one has exploded, from the next tick on."""
    state = start({"a": (0, 0, 0), "b": (16, 16, 16), "c": (16, 0, 16)}, edgeLength=17)
    cells = [(x, y, z) for x in range(16) for y in range(16) for z in range(16)][1:]
    state["items"] = [{"type": "BOMB", "x": x, "y": y, "z": z} for x, y, z in [*cells, (16, 1, 16)]]
    assert len(state["items"]) == MOST_BOMBS
    state = play(state, a=bomb(16, 5, 5), b=bomb(0, 0, 1), c=move("+Y"))
    assert lost(state) == {"c": BOMB}
    assert len(state["items"]) == MOST_BOMBS - 1
    state = play(state, a=bomb(16, 5, 5), b=bomb(16, 6, 6))
    assert len(state["items"]) == MOST_BOMBS
    assert state["items"][-1] == {"type": "BOMB", "x": 16, "y": 5, "z": 5}


def test_six_directions() -> None:
    """X to the right, Y down, Z to the back, as the original counts them."""
    for direction, cell in {
        "+X": (2, 1, 1),
        "-X": (0, 1, 1),
        "+Y": (1, 2, 1),
        "-Y": (1, 0, 1),
        "+Z": (1, 1, 2),
        "-Z": (1, 1, 0),
    }.items():
        assert where(play(start({"a": (1, 1, 1), **FAR}), a=move(direction)))["a"] == cell


def test_the_last_one_left_wins() -> None:
    """Its score is the tick counter after the tick; scores are in the order of losing, survivors last."""
    after = play(start({"a": (0, 0, 0), **FAR}), a=move("-X"))
    assert (after["complete"], after["victor"], after["reason"]) == (True, "far", "complete")
    assert after["scores"] == [{"name": "a", "score": 0}, {"name": "far", "score": 1}]
    assert after["places"] == [["far"], ["a"]]
    assert after["waitingFor"] == []


def test_all_can_lose_at_once() -> None:
    """A tie, in which nobody is better."""
    after = play(start({"a": (0, 0, 0), "b": (1, 0, 0)}), a=move("+X"))
    assert (after["complete"], after["victor"], after["places"]) == (True, None, [["a", "b"]])


def test_the_last_tick_is_a_tie_of_all_who_are_left() -> None:
    """The game ends when the current tick is one less than the limit."""
    state = play(start({"a": (0, 0, 0), "b": (1, 0, 0), **FAR}, maxNumOfTicks=2), b=move("+X"))
    assert not state["complete"]
    state = play(state, a=move("-X"))
    assert (state["complete"], state["victor"]) == (True, None)
    assert state["scores"] == [{"name": "a", "score": 1}, {"name": "b", "score": 2}, {"name": "far", "score": 2}]
    assert state["places"] == [["b", "far"], ["a"]]


def test_a_single_player_wins_after_one_tick() -> None:
    """Whatever it does, as long as it stays."""
    after = play(start({"a": (0, 0, 0)}))
    assert (after["complete"], after["victor"], after["currentTick"]) == (True, "a", 1)


def test_a_sequence_uses_the_stored_answers() -> None:
    """Two tasks a sequence: two ticks pass before the bots are asked again."""
    state = start({"a": (0, 0, 0), **FAR}, numOfTasksPerTick=2)
    after = play(state, a=[move("+X"), move("+Y")])
    assert (where(after)["a"], after["currentTick"]) == ((1, 1, 0), 2)
    assert events(after) == [
        *("PLAYER_MOVE_ATTEMPT", "PLAYER_DID_NOTHING", "NEXT_TICK"),
        *("PLAYER_MOVE_ATTEMPT", "PLAYER_DID_NOTHING", "NEXT_TICK"),
    ]
    assert after["waitingFor"] == ["a", "far"]


def test_a_tick_is_told_as_it_was_before_its_tasks() -> None:
    """A bomb placed in it is not there yet, nor has anybody moved."""
    after = play(
        start({"a": (0, 0, 0), **FAR}, numOfTasksPerTick=2), a=[move("+X"), bomb(2, 2, 2)], far=[NOOP, move("-X")]
    )
    ticks = [body for name, body in after["events"] if name == "NEXT_TICK"]
    assert [len(body["items"]) for body in ticks] == [0, 1]
    assert [body["players"][1]["x"] for body in ticks] == [3, 2]


def test_a_bot_that_has_lost_is_not_asked_again() -> None:
    """The others play on, by themselves."""
    state = play(start({"a": (0, 0, 0), "b": (1, 1, 1), **FAR}, numOfTasksPerTick=2), a=None)
    assert state["waitingFor"] == ["b", "far"]
    assert not GAME.validate(state, {"player": "a", "tasks": [NOOP, NOOP]})


def test_events_say_what_happened() -> None:
    """In the words of the original, with the program's additions."""
    after = play(start({"a": (0, 0, 0), "b": (1, 1, 1), **FAR}), a=move("+X"), b=bomb(2, 2, 2))
    assert after["events"][:3] == [
        ["PLAYER_MOVE_ATTEMPT", {"name": "a", "direction": "+X", "x": 1, "y": 0, "z": 0}],
        ["PLAYER_PLACED_BOMB", {"name": "b", "x": 2, "y": 2, "z": 2}],
        ["PLAYER_DID_NOTHING", {"name": "far", "x": 3, "y": 3, "z": 3}],
    ]
    name, seen = after["events"][3]
    assert name == "NEXT_TICK"
    assert seen["gameInfo"] == {"edgeLength": 4, "numOfTasksPerTick": 1, "currentTick": 1, "numOfBotsInPlay": 3}
    assert seen["players"][0] == {"name": "a", "x": 1, "y": 0, "z": 0}
    assert seen["items"] == [{"type": "BOMB", "x": 2, "y": 2, "z": 2}]


def test_another_setup_takes_effect_at_the_next_sequence() -> None:
    """All are placed anew, at random but the same for the same seed; bombs are gone."""
    state = play(start({"a": (0, 0, 0), "b": (1, 1, 1), **FAR}), a=bomb(2, 2, 2))
    changed = GAME.configure(state, {"edgeLength": 9, "numOfTasksPerTick": 3}, True)
    changed = GAME.configure(changed, {"speed": 5}, True)
    assert changed["edgeLength"] == 4
    after = play(changed)
    assert events(after) == [*["PLAYER_DID_NOTHING"] * 3, "NEXT_TICK"]
    assert after["events"][-1][1]["players"] == after["positions"]
    assert (after["edgeLength"], after["numOfTasksPerTick"], after["speed"], after["items"]) == (9, 3, 5, [])
    assert set(where(after)) == {"a", "b", "far"}
    assert where(play(changed)) == where(after) != where(play(state))
    with pytest.raises(ValueError, match="Too many players"):
        GAME.configure(state, {"edgeLength": 1}, True)


@pytest.mark.parametrize("asked", [True, False], ids=["asked", "in the pause"])
def test_in_a_grid_of_the_same_size_all_stay_where_they_are(asked: bool) -> None:
    """Another speed, another number of tasks, or a whole setup that names the size again."""
    state = play(start({"a": (0, 0, 0), "b": (1, 1, 1), **FAR}), a=bomb(2, 2, 2))
    for setup in ({"speed": 5}, {"numOfTasksPerTick": 2}, {"edgeLength": 4, "speed": 5, "numOfTasksPerTick": 2}):
        after = GAME.configure(state, setup, asked)
        after = play(after) if asked else after
        assert {key: after[key] for key in setup} == setup
        assert (where(after), after["items"]) == (where(state), state["items"])
        told = after["events"][-1][1]
        assert (told["players"], told["items"]) == (after["positions"], after["items"])


def test_another_setup_takes_effect_at_once_where_nobody_has_been_asked() -> None:
    """The sequence that is about to begin is the next: its tick is told as it is now; the pause before it stays."""
    state = play(start({"a": (0, 0, 0), "b": (1, 1, 1), **FAR}, speed=10), a=bomb(2, 2, 2))
    changed = GAME.configure(state, {"edgeLength": 9, "numOfTasksPerTick": 3, "speed": 500}, False)
    assert (changed["edgeLength"], changed["numOfTasksPerTick"], changed["items"]) == (9, 3, [])
    assert [name for name, _ in changed["events"]] == ["NEXT_TICK"]
    told = changed["events"][0][1]
    assert told["gameInfo"] == {"edgeLength": 9, "numOfTasksPerTick": 3, "currentTick": 1, "numOfBotsInPlay": 3}
    assert (told["players"], told["items"]) == (changed["positions"], [])
    assert GAME.pause_ms(changed) == GAME.pause_ms(state) == 10
    assert changed["waitingFor"] == ["a", "b", "far"]
    assert len(state["items"]) == 1


def test_each_new_size_places_all_anew() -> None:
    """Also one that there was before, and that of the beginning."""
    state = GAME.initial_state(["a", "b", "c"], 7, {"edgeLength": 9})
    seen = [where(state)]
    for edge in (8, 9, 8, 9):
        state = GAME.configure(state, {"edgeLength": edge}, False)
        assert where(state) not in seen
        seen.append(where(state))


BAD_TASKS: dict[str, tuple[Any, str]] = {
    "no array": ({"task": "NOOP"}, "an array of exactly 1 task"),
    "too many": ([NOOP, NOOP], "exactly 1 task"),
    "none": ([], "exactly 1 task"),
    "no object": (["NOOP"], "must be an object"),
    "unknown": ([{"task": "FLY"}], "must be an object whose"),
    "a direction of two letters": ([move("+W")], "must be one of"),
    "a list as direction": ([{"task": "MOVE", "direction": ["+X"]}], "must be one of"),
    "another key": ([{"task": "NOOP", "why": 1}], "no other keys"),
    "a bomb at a negative place": ([bomb(-1, 0, 0)], "integers of at least 0"),
    "a bomb at a fraction": ([{"task": "BOMB", "x": 1.5, "y": 0, "z": 0}], "integers of at least 0"),
    "a bomb nowhere": ([{"task": "BOMB", "x": float("inf"), "y": 0, "z": 0}], "integers of at least 0"),
    "a bomb at a text": ([{"task": "BOMB", "x": "1", "y": 0, "z": 0}], "integers of at least 0"),
    "a bomb far below": ([{"task": "BOMB", "x": -1e30, "y": 0, "z": 0}], "integers of at least 0"),
    "a bomb at true": ([{"task": "BOMB", "x": True, "y": 0, "z": 0}], "integers of at least 0"),
    "a bomb without z": ([{"task": "BOMB", "x": 1, "y": 0}], "integers of at least 0"),
}


def test_an_integer_may_have_a_point() -> None:
    """To a bot in JavaScript 1.0 is 1: where it places a bomb, and where it starts; all are told an integer."""
    state = start({"a": (0.0, 3.0, 0.0), **FAR})  # type: ignore[dict-item]
    after = play(state, a={"task": "BOMB", "x": 2.0, "y": 1.0, "z": -0.0})
    assert after["items"] == [{"type": "BOMB", "x": 2, "y": 1, "z": 0}]
    assert ".0" not in str([state["events"], after])


@pytest.mark.parametrize("place", [2**63 - 1, 2.0**62, 2.0**63, 2.0**64, 1e30, 1.7e308])
def test_a_bomb_far_outside_has_no_effect(place: float) -> None:
    """An integer of more than 64 bits comes in as a float, and stays one: it could not be stored."""
    state, task = start({"a": (0, 0, 0), "b": (1, 1, 1)}), {"task": "PLACE_BOMB", "x": 0, "y": place, "z": 0}
    assert GAME.validate(state, {"player": "a", "tasks": [task]})
    after = play(state, a=task)
    assert (after["items"], after["lost"]) == ([], [])
    assert problem_of_storing(after) is None


@pytest.mark.parametrize(("tasks", "sentence"), BAD_TASKS.values(), ids=list(BAD_TASKS))
def test_tasks_are_looked_at_closely(tasks: Any, sentence: str) -> None:
    """Anything that the page does not know is refused, with what is wrong."""
    turn = {"player": "a", "tasks": tasks}
    state = start({"a": (0, 0, 0), **FAR})
    assert not GAME.validate(state, turn)
    assert sentence in GAME.explain(state, turn)


OBJECTIONS: dict[str, tuple[list[str], dict[str, Any], str]] = {
    "too many": ([f"p{n}" for n in range(9)], {"edgeLength": 2}, "Too many players for the selected game area size"),
    "one name twice": (["a", "a"], {}, "All player names must be unique"),
    "nobody": ([], {}, "Battle-cubed is for 1 to 64 players"),
    "not for all": (
        ["a", "b"],
        {"playerStartPositions": [{"name": "a", "x": 0, "y": 0, "z": 0}]},
        "There are no player start positions for all players in the game",
    ),
    "two in a cell": (
        ["a", "b"],
        {"playerStartPositions": [{"name": name, "x": 0, "y": 0, "z": 0} for name in "ab"]},
        "No two players can start in the same cell",
    ),
    "between cells": (["a"], {"playerStartPositions": [{"name": "a", "x": 1.5, "y": 0, "z": 0}]}, "coordinates of 0"),
    "outside": (["a"], {"playerStartPositions": [{"name": "a", "x": 8, "y": 0, "z": 0}]}, "coordinates of 0 to 7"),
    "no list": (["a"], {"playerStartPositions": "a"}, "must be a list"),
    "a number": (["a"], {"playerStartPositions": 1}, "must be a list"),
    "no object": (["a"], {"playerStartPositions": ["a"]}, "must be a list of"),
    "another key": (
        ["a"],
        {"playerStartPositions": [{"name": "a", "x": 0, "y": 0, "z": 0, "w": 0}]},
        "must be a list of",
    ),
    "no name": (["a"], {"playerStartPositions": [{"name": 1, "x": 0, "y": 0, "z": 0}]}, "must be a list of"),
    "the second outside": (
        ["a", "b"],
        {"playerStartPositions": [{"name": name, "x": 0, "y": y, "z": 0} for name, y in (("a", 0), ("b", 8))]},
        "coordinates of 0 to 7",
    ),
}


@pytest.mark.parametrize(("players", "options", "sentence"), OBJECTIONS.values(), ids=list(OBJECTIONS))
def test_what_cannot_start_is_said(players: list[str], options: dict[str, Any], sentence: str) -> None:
    """In the sentences of the page where it has one."""
    assert sentence in (GAME.objection(players, GAME.options_with_defaults(options)) or "")


def test_what_cannot_start_does_not() -> None:
    """In an open contest the bots that meet are not those whose positions were given."""
    with pytest.raises(ValueError, match="no player start positions for all players"):
        GAME.initial_state(["a", "b"], 7, {"playerStartPositions": [{"name": "a", "x": 0, "y": 0, "z": 0}]})


def test_start_positions_come_in_any_order() -> None:
    """The players keep theirs; the first tick is told with it, before anybody is asked."""
    positions = [{"name": name, "x": x, "y": 0, "z": 0} for x, name in enumerate("bca")]
    state = GAME.initial_state(["c", "b", "a"], 7, {"playerStartPositions": positions})
    assert [(row["name"], row["x"]) for row in state["positions"]] == [("c", 1), ("b", 0), ("a", 2)]
    ((name, told),) = state["events"]
    assert (name, told["players"], told["gameInfo"]["currentTick"]) == ("NEXT_TICK", state["positions"], 0)


def test_nobody_sees_what_others_plan() -> None:
    """Nor the seed; one's own answer is shown."""
    state = start({"a": (0, 0, 0), **FAR})
    state = GAME.reducer(state, {"player": "a", "tasks": [NOOP]})
    assert GAME.view(state, "far")["answers"] == GAME.view(state, None)["answers"] == {}
    assert GAME.view(state, "a")["answers"] == {"a": {"tasks": [NOOP]}}
    assert "seed" not in GAME.view(state, None)
    assert GAME.view(GAME.reducer(state, {"player": "far", "tasks": [NOOP]}), "a")["answers"] == {}


def test_sixty_four_start_in_different_cells() -> None:
    """At random, the same for the same seed."""
    names = [f"p{n}" for n in range(64)]
    one, same, other = (GAME.initial_state(names, seed, {"edgeLength": 4}) for seed in (1, 1, 2))
    assert len(set(where(one).values())) == 64
    assert where(one) == where(same) != where(other)


def test_a_pause_is_as_long_as_the_ticks_that_passed() -> None:
    """`speed` for each; none before the first, none at the end."""
    game = discover()["battlecube"]
    state = game.initial_state(["a", "b"], 7, {"speed": 20, "numOfTasksPerTick": 3})
    assert game.pause_ms(state) == 0
    for bot in "ab":
        state = game.reducer(state, {"player": bot, "tasks": [{"task": "NOOP"}] * 3})
    assert game.pause_ms(state) == 60
    changed = game.configure(state, {"speed": 1000, "numOfTasksPerTick": 1}, True)
    for bot in "ab":
        changed = game.reducer(changed, {"player": bot, "tasks": [{"task": "NOOP"}] * 3})
    assert (game.pause_ms(changed), changed["speed"]) == (60, 1000)
    assert game.pause_ms({**state, "complete": True}) == 0


def test_a_bot_behind_http_is_asked_in_the_words_of_the_seed() -> None:
    """And its answer is the tasks."""
    state = play(start({"a": (0, 0, 0), "b": (1, 1, 1), **FAR}, numOfTasksPerTick=2), a=[bomb(2, 2, 2), NOOP], b=None)
    assert GAME.question(state, "a", {"address": "http://bots.example.org/a"}) == {
        "currentPlayer": {"name": "a", "url": "http://bots.example.org/a"},
        "gameInfo": {"edgeLength": 4, "currentTick": 2, "numOfTasksPerTick": 2, "numOfBotsInPlay": 2},
        "players": [{"name": "a", "x": 0, "y": 0, "z": 0}, {"name": "far", "x": 3, "y": 3, "z": 3}],
        "items": [{"type": "BOMB", "x": 2, "y": 2, "z": 2}],
    }
    assert GAME.turn_from([NOOP, NOOP]) == {"tasks": [NOOP, NOOP]}


def test_a_grid_may_be_full() -> None:
    """From the start, or by another setup."""
    names = [f"p{n}" for n in range(8)]
    assert len(set(where(GAME.initial_state(names, 1, {"edgeLength": 2})).values())) == 8
    state = GAME.configure(GAME.initial_state(names, 1, {"edgeLength": 4}), {"edgeLength": 2}, False)
    assert set(where(state).values()) == {(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)}
    with pytest.raises(ValueError, match="Too many players"):
        GAME.configure(GAME.initial_state([*names, "p8"], 1, {"edgeLength": 4}), {"edgeLength": 2}, False)


LIMITS = {"maxNumOfTicks": (1, 10_000), "edgeLength": (1, 64), "numOfTasksPerTick": (1, 20), "speed": (0, 10_000)}


@pytest.mark.parametrize("option", LIMITS)
def test_a_number_has_its_limits(option: str) -> None:
    """Both of them may be used."""
    low, high = LIMITS[option]
    for value in (low, high):
        assert GAME.options_with_defaults({option: value})[option] == value
    for value in (low - 1, high + 1):
        with pytest.raises(BadMessage, match=option):
            GAME.options_with_defaults({option: value})


def test_what_is_not_given_is_as_the_page_has_it() -> None:
    """With the time that a bot has for its answer."""
    defaults = {"maxNumOfTicks": 200, "edgeLength": 8, "numOfTasksPerTick": 1, "speed": 0, "playerStartPositions": None}
    assert (GAME.options_with_defaults({}), GAME.turn_timeout_ms) == (defaults, 5000)


def test_a_state_is_shown_in_words() -> None:
    """The tick, who and what is where, who has lost."""
    state = play(start({"a": (0, 0, 0), "b": (1, 1, 1), **FAR}, maxNumOfTicks=9), a=bomb(2, 2, 3), b=None)
    assert GAME.render(state).splitlines() == [
        *("tick 1 of 9, edge 4", "a at 0,0,0", "far at 3,3,3", "bomb at 2,2,3"),
        "b lost on tick 0: no answer",
    ]


def test_the_largest_states_can_be_stored() -> None:
    """64 bots of the longest names fill the grid, 20 tasks at once: each tick of a sequence lists all bombs."""
    names = [f"{number:02d}".ljust(64, "\N{GRINNING FACE}") for number in range(64)]
    state = start({name: (63, 63, z) for z, name in enumerate(names)}, edgeLength=64, numOfTasksPerTick=20)
    spaces = ((x, y, z) for x in range(10, 63) for y in range(10, 64) for z in range(10, 64))
    while len(state["items"]) < MOST_BOMBS:
        state = play(state, **{name: [bomb(*next(spaces)) for _ in range(20)] for name in names})
    state = play(state)
    assert [len(data["items"]) for kind, data in state["events"] if kind == "NEXT_TICK"] == [MOST_BOMBS] * 20
    assert problem_of_size(encode(state).encode()) is None
