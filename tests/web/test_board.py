"""Which states become a grid, and what becomes of the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from records import won
from webhouse import REGISTRY

from battlebot.web.board import Space, final_state, grid, picture, text

NO_GRIDS: dict[str, Any] = {
    "no board": {},
    "an object": {"board": {"n": 3}},
    "a text": {"board": "XO"},
    "no rows": {"board": []},
    "empty rows": {"board": [[], []]},
    "flat": {"board": ["X", "O"]},
    "rows of different length": {"board": [["X"], ["X", "O"]]},
    "lists within": {"board": [[["X"]]]},
    "objects within": {"board": [[{"a": 1}]]},
    "too large": {"board": [[""] * 65]},
}


@pytest.mark.parametrize("state", NO_GRIDS.values(), ids=NO_GRIDS)
def test_what_is_no_grid_is_text(state: dict[str, Any]) -> None:
    """A board that is not rows of equal length with plain values."""
    assert grid(state) is None


def test_a_grid_has_spaces_that_know_whose_mark_they_bear() -> None:
    """Where the state says so by `marks`."""
    state = {"players": ["b", "a"], "marks": {"X": "a", "O": "b", "?": "nobody"}, "board": [["X", "O"], ["?", ""]]}
    assert grid(state) == [[Space("X", 1), Space("O", 0)], [Space("?"), Space("")]]


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0"), (3, "3"), (1.5, "1.5"), (None, ""), (False, ""), ("x" * 40, "x" * 12 + "…")]
)
def test_a_space_is_written_so(value: Any, shown: str) -> None:
    """Numbers as they are; nothing where there is nothing; no more than fits."""
    assert grid({"board": [[value]]}) == [[Space(shown)]]


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_every_game_can_be_shown(name: str) -> None:
    """By a grid or by its own text, at the start and from what is stored of its end."""
    game = REGISTRY[name]
    players = [f"bot {n}" for n in range(game.min_players)]
    state = game.initial_state(players, 1, {})
    assert grid(state) or text(game, state)
    stored = {key: value for key, value in state.items() if key not in ("complete", "nextPlayer")}
    assert text(game, final_state({**stored, "_id": "x", "turns": [], "victor": None, "reason": "complete"}))


def test_of_a_stored_match_nothing_but_its_state_is_shown() -> None:
    """With `complete` and `nextPlayer`, which are not stored."""
    game = REGISTRY["numberwang"]
    match = won()
    state = game.initial_state(["a", "b"], 7, {})
    assert final_state(match).keys() == {*state, "victor", "reason"}


def test_a_game_that_fails_to_render_is_shown_as_json() -> None:
    """Its page must not fail with it."""

    def fail(state: dict[str, Any]) -> str:
        raise KeyError("board")

    game = REGISTRY["numberwang"]
    broken = replace(game, rules=replace(game.rules, render=fail))
    assert '"n": 3' in text(broken, {"n": 3})


def test_a_game_says_what_is_shown() -> None:
    """Kinds become classes; what has changed since the state before is fresh."""
    game = REGISTRY["crossword"]
    state = game.initial_state(["a", "b"], 7, {})
    rack = state["racks"][0].replace("?", "")
    turn = {"type": "TILE_PLACEMENT_MOVE", "position": "8H", "played_tiles": rack[:2], "player": "a"}
    made = picture(game, game.reducer(state, turn), state)
    assert made.spaces is not None
    assert [space.classes for space in made.spaces[7][6:10]] == [
        "kind-empty",
        "kind-tile fresh",
        "kind-tile fresh",
        "kind-empty",
    ]
    assert made.spaces[0][0] == Space("3W", kind="word3")
    assert (made.columns[0], made.rows[14], len(made.tables)) == ("A", "15", 3)
    assert made.tables[1].rows[0][1] == f"8H {rack[:2]}"


def test_a_game_that_cannot_show_a_state_is_shown_plainly() -> None:
    """As its text; the page stands all the same."""

    def broken(state: dict[str, Any]) -> dict[str, Any]:
        return {"board": [[{"text": "X"}]]}

    game = REGISTRY["crossword"]
    broken_game = replace(game, rules=replace(game.rules, show=broken))
    made = picture(broken_game, game.initial_state(["a", "b"], 7, {}))
    assert made.spaces is None
    assert made.text is not None
    assert made.text.startswith("   A B C")


@pytest.mark.parametrize(
    ("before", "after"),
    [([], []), ([], [["|"]]), ([["|"], ["|", "|"]], [["|"], ["|"]])],
    ids=["no rows", "rows that come", "a heap that shrinks"],
)
def test_a_board_of_another_shape_than_before_has_no_fresh_spaces(before: Any, after: Any) -> None:
    """Whatever shape the game gives it; its page is shown all the same."""

    def show(state: dict[str, Any]) -> dict[str, Any]:
        board = [[{"text": text, "kind": ""} for text in row] for row in state["heaps"]]
        return {"columns": [], "rows": [], "board": board, "tables": []}

    game = REGISTRY["numberwang"]
    shown = replace(game, rules=replace(game.rules, show=show))
    made = picture(shown, {"heaps": after}, {"heaps": before})
    assert made.spaces == [[Space(text) for text in row] for row in after]


def test_kinds_are_plain_words() -> None:
    """Whatever the game calls them, they stay within their class."""
    shown = {"columns": ["A"], "rows": ["1"], "board": [[{"text": "<", "kind": 'a" onclick="x'}]], "tables": []}
    game = REGISTRY["crossword"]
    odd = replace(game, rules=replace(game.rules, show=lambda state: shown))
    made = picture(odd, {})
    assert made.spaces == [[Space("<", kind="aonclickx")]]
