"""`Game` and `Option`: defaults for what a module leaves out, and the bounds of options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from battlebot.errors import BadMessage
from battlebot.rules.contract import Game
from battlebot.rules.module import game_from_module
from battlebot.rules.option import Option

OPTIONS = {
    "size": {"default": 3, "low": 1, "high": 9, "doc": "A whole number."},
    "word": {"default": "ab", "low": 1, "high": 4, "doc": "A text."},
    "fast": {"default": False, "doc": "A switch."},
    "walls": {"default": ["n"], "choices": ["n", "s"], "high": 2, "doc": "A list."},
    "level": {"default": "easy", "choices": ("easy", "hard"), "doc": "One of two."},
    "cap": {"default": None, "low": 1, "doc": "May be unset."},
    "mood": {"default": None, "choices": ["calm"], "doc": "May be unset, or one of one."},
}


def a_game(**changes: Any) -> Game:
    """A game in which everybody may always move, with all kinds of options."""
    module = ModuleType("games.plain", "Plain:\nnothing hidden.\n\nMore.")
    module.__dict__["GAME"] = {"name": "plain", "title": "Plain", "players": [2, 2], "options": OPTIONS, **changes}
    module.__dict__["initial_state"] = lambda players, seed, options: {
        "players": players,
        "nextPlayer": players[1],
        "waitingFor": list(players),
        "complete": False,
        "options": options,
        "seed": seed,
    }
    module.__dict__["validate"] = lambda state, turn: turn.get("ok") is True
    module.__dict__["reducer"] = lambda state, turn: {**state, "complete": True}
    return game_from_module(module)


DEFAULTS = {"size": 3, "word": "ab", "fast": False, "walls": ["n"], "level": "easy", "cap": None, "mood": None}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"size": 1},
        {"size": 9},
        {"word": "abcd"},
        {"fast": True},
        {"walls": []},
        {"walls": ["s", "n"]},
        {"level": "hard"},
        {"cap": None},
        {"cap": 7},
        {"mood": None},
        {"mood": "calm"},
    ],
    ids=repr,
)
def test_options_given_stand_beside_defaults(given: dict[str, Any]) -> None:
    """All of the game's options, always."""
    assert a_game().options_with_defaults(given) == DEFAULTS | given


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"sise": 3}, "no option 'sise'; it has \"size\""),
        ({"size": 0}, "'size' of plain must be at least 1"),
        ({"size": 10**400}, "must be at most 9"),
        ({"size": True}, "must be a whole number"),
        ({"size": 3.0}, "must be a whole number"),
        ({"size": None}, "must be a whole number"),
        ({"word": ""}, "must be at least 1 long"),
        ({"word": "abcde"}, "must be at most 4 long"),
        ({"word": 3}, "must be a text"),
        ({"fast": 1}, "must be true or false"),
        ({"walls": "n"}, "must be a list"),
        ({"walls": ["w"]}, 'must be made of "n", "s"'),
        ({"walls": [["n"]]}, "must be made of"),
        ({"walls": ["n", "n", "n"]}, "must be at most 2 long"),
        ({"level": "Easy"}, 'must be one of "easy", "hard"'),
        ({"cap": 0}, "must be at least 1"),
        ({"mood": "wild"}, 'must be one of "calm"'),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_other_options_are_refused_by_name(given: dict[str, Any], sentence: str) -> None:
    """The error's details name the option, for whoever shows it beside a field."""
    with pytest.raises(BadMessage) as caught:
        a_game().options_with_defaults(given)
    assert sentence in str(caught.value)
    assert caught.value.as_dict()["option"] == next(iter(given))


def test_a_game_without_options_says_so() -> None:
    """Nothing is ignored in silence; a long name is cut."""
    with pytest.raises(BadMessage, match=r"no option 's{64}'; it has no options") as caught:
        a_game(options={}).options_with_defaults({"s" * 65: 3})
    assert caught.value.as_dict()["option"] == "s" * 64


def test_a_true_is_not_the_choice_1() -> None:
    """Python holds True and 1 for equal; JSON does not."""
    option = Option(default=1, choices=(1, 2))
    assert option.problem(1) is None
    assert option.problem(True) is not None
    assert Option(default=None, choices=(1, 2)).problem(True) is not None


def test_defaults_are_not_shared() -> None:
    """Who changes the list of one match changes no other."""
    game = a_game()
    game.options_with_defaults({})["walls"].append("s")
    assert game.options_with_defaults({})["walls"] == ["n"]


def test_a_match_gets_its_own_list_of_players_and_all_options() -> None:
    """The caller's list may change later."""
    players = ["a", "b"]
    state = a_game().initial_state(tuple(players), 7, {"size": 5})
    assert state["players"] == players
    assert (state["seed"], state["options"]) == (7, DEFAULTS | {"size": 5})


@pytest.mark.parametrize("players", [[], ["a"], ["a", "b", "c"], ["a", "a"]], ids=repr)
def test_a_wrong_number_of_players_raises(players: list[str]) -> None:
    """That is a mistake of ours, not of a bot's."""
    with pytest.raises(ValueError, match="is for 2 different bots"):
        a_game().initial_state(players, 0, {})


def test_who_is_awaited() -> None:
    """nextPlayer; in a simultaneous game all of waitingFor; nobody at the end."""
    state = a_game().initial_state(["a", "b"], 0, {})
    assert a_game().awaited(state) == ("b",)
    assert a_game(simultaneous=True).awaited(state) == ("a", "b")
    assert a_game().awaited({**state, "complete": True}) == ()


def test_what_a_module_leaves_out_has_a_default() -> None:
    """The view is the state, the text is JSON, the explanation a plain sentence."""
    game = a_game()
    state = game.initial_state(["é", "b"], 0, {})
    assert game.view(state, None) is game.view(state, "b") is state
    assert '"é"' in game.render(state)
    assert "not a legal turn of plain" in game.explain(state, {"player": "b"})
    assert (game.doc, game.turn_timeout_ms, game.example_turn) == ("Plain: nothing hidden.", 3000, None)
    assert (game.leeway_ms, a_game(leewayMs=1).leeway_ms) == (0, 1)
    assert game.turn_from({"n": 1}) == {"n": 1}
    assert game.turn_from([{"n": 1}]) is None


def test_out_of_turn_and_over_are_explained_for_every_game() -> None:
    """A game need not."""
    game = a_game()
    state = game.initial_state(["a", "b"], 0, {})
    assert game.explain(state, {"player": "a"}) == "It is not your turn: the match waits for b."
    assert game.explain({**state, "complete": True}, {"player": "b"}) == "The match is over."


@pytest.mark.parametrize("function", ["check_options", "objection", "render", "explain"])
@pytest.mark.parametrize("value", [True, {"no": "text"}, b"no", 7])
def test_what_a_game_says_is_text(function: str, value: Any) -> None:
    """Anything else is a fault of its code, found where the game is known."""
    game = a_game()
    game = replace(game, rules=replace(game.rules, **{function: lambda *_: value}))
    state = a_game().initial_state(["a", "b"], 0, {})
    calls: dict[str, Callable[[], object]] = {
        "check_options": lambda: game.options_with_defaults({}),
        "objection": lambda: game.objection(["a", "b"], {}),
        "render": lambda: game.render(state),
        "explain": lambda: game.explain(state, {"player": game.awaited(state)[0]}),
    }
    with pytest.raises(TypeError, match=f"^{function} returns no text but {type(value).__name__}$"):
        calls[function]()


def test_a_game_may_say_which_options_do_not_go_together() -> None:
    """Each good by itself; the sentence is the game's own."""
    game = a_game()
    rules = replace(game.rules, check_options=lambda options: "Too small." if options["size"] < 4 else None)
    game = replace(game, rules=rules)
    assert game.options_with_defaults({"size": 5})["size"] == 5
    with pytest.raises(BadMessage, match="Too small"):
        game.options_with_defaults({"size": 3})


def with_rules(**functions: Any) -> Game:
    """The game with other functions."""
    return replace(a_game(), rules=replace(a_game().rules, **functions))


@pytest.mark.parametrize("key", ["players", "nextPlayer", "complete"])
def test_no_view_may_leave_out_what_a_state_must_have(key: str) -> None:
    """Nobody could be told of it."""
    game = with_rules(view=lambda state, player: {name: state[name] for name in state if name != key})
    with pytest.raises(TypeError, match="it must keep players, nextPlayer and complete"):
        game.view(game.initial_state(["a", "b"], 0, {}), None)


@pytest.mark.parametrize("key", ["player", "time", "valid"])
def test_no_view_of_a_turn_may_leave_out_the_servers_keys(key: str) -> None:
    """If the turn has them."""
    game = with_rules(view_turn=lambda turn, player: {name: turn[name] for name in turn if name != key})
    turn = {"player": "a", "time": 1, "valid": True}
    assert game.view_turn(turn, "a") == turn
    with pytest.raises(TypeError, match="it must keep player, time and valid"):
        game.view_turn(turn, "b")
    del turn[key]
    assert game.view_turn(turn, "b") == turn


def test_a_game_may_read_any_answer_as_a_turn() -> None:
    """Or as none; what it makes of it must be a turn."""
    game = with_rules(turn_from=lambda answer: answer[0])
    assert game.turn_from([{"n": 1}]) == {"n": 1}
    assert game.turn_from([None]) is None
    with pytest.raises(TypeError, match="turn_from returns no turn but str"):
        game.turn_from(["n"])
