"""Plays the first turn of a game before it is admitted, to find what breaks the contract. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

from battlebot.errors import BadGame
from battlebot.rules.contract import RAISED_OUTSIDE, RESERVED_OF_A_STATE, Game, State, Turn
from battlebot.rules.option import bad_game
from battlebot.rules.order import problem_of_places, problem_of_scores
from battlebot.storable import problem_of_storing

_STRANGER = "nobody"
_TIME_MS = 1_700_000_000_000  # the `time` of every turn
_MOST_SIGHTS = 8  # players whose views are looked at: with 64, all of them would be most of a process's start
_HOSTILE: tuple[Any, ...] = (None, True, -1, 1.5, 10**400, "", "x", [], [[]], {}, {"x": []})


def probe(game: Game, file: str) -> None:
    """Plays the game's first turn with its fewest and its most players. Raises BadGame: the file, what is wrong."""
    for count in {game.min_players, game.max_players}:
        _Probe(game, file, [f"bot {n}" for n in range(1, count + 1)]).run()


def problem_of_state(game: Game, state: Any, players: Sequence[str]) -> str | None:
    """Returns what is wrong with a state, to be read after "state"; None if nothing is."""
    if not isinstance(state, dict):
        return "is not a dict"
    for key in ("players", "nextPlayer", "complete"):
        if key not in state:
            return f"has no {key!r}"
    if taken := RESERVED_OF_A_STATE & state.keys():
        return f"has {min(taken)!r}, a name that is taken"
    if state["players"] != list(players):
        return "has other 'players' than it was given, or in another order"
    if not isinstance(state["complete"], bool):
        return "has a 'complete' that is neither True nor False"
    if state["nextPlayer"] not in players and not (game.simultaneous and state["nextPlayer"] is None):
        return "has a 'nextPlayer' that is not one of 'players'"
    return _problem_of_waiting(game, state, players) or _problem_of_end(state, players) or _problem_of_json(state)


def _problem_of_waiting(game: Game, state: State, players: Sequence[str]) -> str | None:
    if not game.simultaneous:
        return None
    waiting = state.get("waitingFor")
    if not isinstance(waiting, list) or not all(player in players for player in waiting):
        return "has no 'waitingFor' that is a list of players, as a simultaneous game must"
    return None if waiting or state["complete"] else "waits for nobody and is not complete"


def _problem_of_end(state: State, players: Sequence[str]) -> str | None:
    if not state["complete"]:
        return "has a 'victor' or a 'reason' before it is complete" if {"victor", "reason"} & state.keys() else None
    if "victor" not in state or not (state["victor"] is None or state["victor"] in players):
        return "is complete without a 'victor' that is a player, or None for a draw"
    if not isinstance(state.get("reason"), str):
        return "is complete without a 'reason' that is a text"
    places, scores = state.get("places", []), state.get("scores", [])
    return problem_of_places(places, players) or problem_of_scores(scores, players)


def _problem_of_json(state: State) -> str | None:
    try:
        same = json.loads(json.dumps(state, allow_nan=False)) == state
    except (TypeError, ValueError, RecursionError) as error:
        return f"cannot be written as JSON ({error})"
    return problem_of_storing(state) if same else "comes back from JSON changed (a tuple, or a key that is not a text?)"


class _Probe:
    """One play with given players. Calls the game only through `call`, which checks that no argument was changed."""

    def __init__(self, game: Game, file: str, players: list[str]) -> None:
        self.game, self.file, self.players = game, file, players

    def run(self) -> None:
        state = self.call("initial_state", self.game.initial_state, self.players, 1, {})
        self.check_state("initial_state", state)
        if state["complete"]:
            raise self.bad("initial_state returns a state that is complete", "a match that can be played")
        if state != self.call("initial_state", self.game.initial_state, self.players, 1, {}):
            raise self.bad("initial_state differs for the same seed", "all chance to come from the seed")
        self.check_objection()
        mover = self.game.awaited(state)[0]
        example = dict(self.game.example_turn or {})
        self.check_refusals(state, mover, example)
        self.check_sights(state)
        if self.game.example_turn is None:
            self.try_reducer(state, {"player": mover, "time": _TIME_MS})
        else:
            self.play(state, {**example, "player": mover, "time": _TIME_MS})

    def check_objection(self) -> None:
        """Checks that the game says of its players whether they can start; of any, also those it does not know yet."""
        for players in (self.players, self.players[::-1], [_STRANGER, *self.players[1:]]):
            options = self.game.options_with_defaults({})
            sentence = self.call("objection", self.game.objection, players, options)
            if sentence is not None and not (isinstance(sentence, str) and sentence.strip()):
                raise self.bad(f"objection returns {sentence!r}", "a sentence, or None")

    def check_refusals(self, state: State, mover: str, example: Turn) -> None:
        """Checks that forbidden and nonsensical turns get a bool from `validate` and, if False, a sentence."""
        turns = [{**example, "player": _STRANGER}, {"player": mover}]
        turns += [{**example, key: value, "player": mover} for key in example for value in _HOSTILE]
        for turn in turns:
            if self.valid(state, turn):
                if turn["player"] == _STRANGER:
                    raise self.bad("validate accepts a turn of a bot that is not to move", "False")
                continue
            sentence = self.call("explain", self.game.explain, state, turn)
            if not sentence.strip():
                raise self.bad(f"explain returns {sentence!r} for an invalid turn", "a sentence")

    def check_sights(self, state: State) -> None:
        """Checks that what players and viewers see is a valid state, and that `render` returns text."""
        for player in (None, *self.players[:_MOST_SIGHTS]):
            self.check_state("view", self.call("view", self.game.view, state, player))
        if not isinstance(self.call("render", self.game.render, state), str):
            raise self.bad("render does not return a text", "the board as str")

    def try_reducer(self, state: State, turn: Turn) -> None:
        """Checks that the reducer does not change its input. It may raise, since the turn is not known to be legal."""
        before = deepcopy(state)
        try:
            self.game.reducer(state, turn)
        except (SystemExit, TimeoutError) as error:
            raise self.bad(f"reducer raises {type(error).__name__}: {error}", "no such exception") from error
        except Exception:
            return
        finally:
            if state != before:
                raise self.bad("reducer changes the state it is given", "a new state")

    def play(self, state: State, turn: Turn) -> None:
        if not self.valid(state, turn):
            expected = "one that validate accepts, with the server's 'time' in it"
            raise self.bad("GAME['exampleTurn'] is not a legal first turn", expected)
        after = self.call("reducer", self.game.reducer, state, turn)
        self.check_state("reducer", after)
        if after is state or after == state:
            raise self.bad("reducer returns the state it was given", "a new state")
        if after != self.call("reducer", self.game.reducer, state, turn):
            raise self.bad("reducer gives two results for one turn", "all chance to come from the seed in the state")
        self.check_sights(after)
        for player in self.players[:_MOST_SIGHTS]:
            self.call("view_turn", self.game.view_turn, {**turn, "valid": True}, player)

    def valid(self, state: State, turn: Turn) -> bool:
        answer = self.call("validate", self.game.validate, state, turn)
        if not isinstance(answer, bool):
            raise self.bad(f"validate returns {answer!r}", "True or False")
        return answer

    def check_state(self, function: str, state: Any) -> None:
        problem = problem_of_state(self.game, state, self.players)
        if problem:
            raise self.bad(f"{function} returns a state that {problem}", "see games/README.md")

    def call(self, function: str, method: Callable[..., Any], *arguments: Any) -> Any:
        before = deepcopy(arguments)
        try:
            result = method(*arguments)
        except RAISED_OUTSIDE as error:
            raise self.bad(f"{function} raises {type(error).__name__}: {error}", "no exception") from error
        if arguments != before:
            raise self.bad(f"{function} changes what it is given", "arguments left as they were")
        return result

    def bad(self, wrong: str, expected: str) -> BadGame:
        return bad_game(self.file, wrong, expected)
