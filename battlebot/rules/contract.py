"""What a game is: `Game`, over the functions of a module in games/, which does not know the server. Pure.

`module` makes it of such a module, `probe` tries it, `registry` finds it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, TypeVar

from battlebot.errors import BadMessage
from battlebot.rules.option import Option, listed
from battlebot.rules.order import are_scores, problem_of_places, problem_of_scores
from battlebot.wire.jsontext import encode

State = dict[str, Any]
Turn = dict[str, Any]
Json = TypeVar("Json")

# what a game's code may raise in a match: also what ends a process (SystemExit, KeyboardInterrupt) or a greenlet
# (GeneratorExit, gevent's own) must not take the matches of all others with it
RAISED = BaseException
# the same outside of matches, where Ctrl-C and the end of a generator must come through
RAISED_OUTSIDE = (Exception, SystemExit)

MAX_SENTENCE = 1000  # characters of an explanation; it goes to the bot, and into the record of a match lost by it
MAX_TURN_TIMEOUT_MS = 3_600_000
MAX_PAUSE_MS = 3_600_000

# reserved names; games/README.md lists them for authors of games
SERVERS_KEYS = frozenset({"player", "time", "valid"})  # of a turn; a bot cannot forge them
RESERVED_OF_A_TURN = SERVERS_KEYS | {"version", "match"}  # the server reads these two
RESERVED_OF_A_STATE = frozenset({"_id", "game", "contest", "startTime", "turns", "match"})  # stored with the last state


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The functions of a game's module, unchanged; one that is absent is None: all but the first three may be."""

    initial_state: Callable[[list[str], int, dict[str, Any]], State]
    validate: Callable[[State, Turn], bool]
    reducer: Callable[[State, Turn], State]
    explain: Callable[[State, Turn], str] | None = None
    view: Callable[[State, str | None], State] | None = None
    view_turn: Callable[[Turn, str], Turn] | None = None
    render: Callable[[State], str] | None = None
    show: Callable[[State], dict[str, Any]] | None = None
    check_options: Callable[[dict[str, Any]], str | None] | None = None
    objection: Callable[[list[str], dict[str, Any]], str | None] | None = None
    forfeit: Callable[[State, str, Any], State] | None = None
    configure: Callable[[State, dict[str, Any], bool], State] | None = None
    question: Callable[[State, str, dict[str, Any]], Any] | None = None
    turn_from: Callable[[Any], Turn] | None = None
    pause_ms: Callable[[State], int] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Game:
    """A set of rules. Stateless: every method takes the state and leaves it unchanged.

    A turn is the bot's JSON object in which the caller has set "player" to the id of the bot that sent it, and "time".
    `doc` is the first paragraph of the module's docstring; `example_turn` a legal first turn, if the module gives one.
    Turns are accepted up to `leeway_ms` later than bots are told.
    """

    name: str
    title: str
    min_players: int
    max_players: int
    turn_timeout_ms: int
    simultaneous: bool
    options: Mapping[str, Option]
    doc: str
    example_turn: Mapping[str, Any] | None = None
    leeway_ms: int = 0
    rules: Rules = field(repr=False)

    def initial_state(self, players: Sequence[str], seed: int, options: Mapping[str, Any]) -> State:
        """Returns the state before the first turn; equal arguments give equal states. Missing options take defaults.

        Raises ValueError if the game is not for that number of players or two are equal, BadMessage as
        `options_with_defaults`.
        """
        if not self.min_players <= len(players) <= self.max_players or len(set(players)) != len(players):
            raise ValueError(f"{self.name} is for {self._numbers} different bots")
        return self.rules.initial_state(list(players), seed, self.options_with_defaults(options))

    def validate(self, state: State, turn: Turn) -> bool:
        """Returns whether the turn may be made now by the bot that made it."""
        return self.rules.validate(state, turn)

    def explain(self, state: State, turn: Turn) -> str:
        """Returns why an invalid turn is invalid, as a sentence for the bot's author.

        Raises TypeError if the game says what is no text, or none that can be sent: found later, the bot would lose by
        it.
        """
        if state["complete"]:
            return "The match is over."
        awaited = self.awaited(state)
        if turn.get("player") not in awaited:
            return f"It is not your turn: the match waits for {', '.join(awaited)}."
        if self.rules.explain is None:
            return f"This is not a legal turn of {self.name} now."
        sentence = _text("explain", self.rules.explain(state, turn))
        short = sentence[:MAX_SENTENCE]
        encode(short)
        return short

    def reducer(self, state: State, turn: Turn) -> State:
        """Returns the state after a valid turn; a new object. Call `validate` first."""
        return self.rules.reducer(state, turn)

    def view(self, state: State, player: str | None) -> State:
        """Returns what a player or viewer (None) may see of the state. May be the state itself: do not change it.

        Raises TypeError if the game makes what is not JSON, or leaves out what a state must have: found later, when the
        turn is committed, nobody could be told of it.
        """
        if self.rules.view is None:
            return state
        seen = _json(self.rules.view(state, player))
        if not (type(seen) is dict and "players" in seen and "nextPlayer" in seen and "complete" in seen):
            raise TypeError("view returns no state: it must keep players, nextPlayer and complete")
        return seen

    def view_turn(self, turn: Turn, player: str) -> Turn:
        """Returns what the player may see of a valid turn while the match is running: all of its own, no secrets.

        Raises TypeError like `view`.
        """
        if self.rules.view_turn is None or turn.get("player") == player:
            return turn
        seen = _json(self.rules.view_turn(turn, player))
        if not (type(seen) is dict and all(key in seen for key in ("player", "time", "valid") if key in turn)):
            raise TypeError("view_turn returns no turn: it must keep player, time and valid")
        return seen

    def render(self, state: State) -> str:
        """Returns the state as text, for logs and terminals. Raises TypeError if the game makes what is no text."""
        if self.rules.render is None:
            return json.dumps(state, indent=2, ensure_ascii=False)
        return _text("render", self.rules.render(state))

    def show(self, state: State) -> dict[str, Any] | None:
        """Returns what pages show of a state (see games/README.md), or None if the game leaves that to them."""
        return None if self.rules.show is None else self.rules.show(state)

    def objection(self, players: Sequence[str], options: Mapping[str, Any]) -> str | None:
        """Returns why these players cannot start under these options (with defaults), a sentence; None if they can.

        Raises TypeError if the game says what is no text.
        """
        if len(set(players)) != len(players):
            return "All player names must be unique"
        if not self.min_players <= len(players) <= self.max_players:
            return f"{self.title} is for {self._numbers} players"
        if self.rules.objection is None:
            return None
        problem = self.rules.objection(list(players), dict(options))
        return None if problem is None else _text("objection", problem)

    @property
    def _numbers(self) -> str:
        fewest, most = self.min_players, self.max_players
        return str(most) if fewest == most else f"{fewest} to {most}"

    @property
    def usual_players(self) -> int:
        """The number of players if none is given: the fewest, but at least two, so that there is an opponent."""
        return max(2, self.min_players)

    @property
    def goes_on_without(self) -> bool:
        """Returns whether a match goes on when a player gives up or is out: whether the game has a `forfeit`."""
        return self.rules.forfeit is not None

    def forfeit(self, state: State, player: str, cause: Any) -> State:
        """Returns the state after an awaited player gave no valid answer; `cause` is JSON, and kept."""
        assert self.rules.forfeit is not None
        return self.rules.forfeit(state, player, cause)

    def configure(self, state: State, options: Mapping[str, Any], asked: bool) -> State:
        """Returns the state with other options from now on. Raises ValueError, with a sentence, if they cannot change.

        `asked`: the awaited bots know the state and may have answered; False in a pause, when nobody knows it yet.
        """
        if self.rules.configure is None:
            raise ValueError(f"The options of {self.title} cannot be changed during a match")
        return self.rules.configure(state, dict(options), asked)

    def question(self, state: State, player: str, about: Mapping[str, Any]) -> Any:
        """Returns what a stateless bot is asked, as JSON, or None if the game leaves it to the server: an update.

        `state` is what the player may see; `about` has `address`, `match`, `version` and `remainingMs`. Raises
        TypeError if the game makes what is not JSON: found when the bot is asked, that would look like its failure.
        """
        return None if self.rules.question is None else _json(self.rules.question(state, player, dict(about)))

    def turn_from(self, answer: Any) -> Turn | None:
        """Returns the turn that a stateless bot's answer (JSON) stands for, or None if it stands for none.

        Raises TypeError if the game makes what is no turn.
        """
        if self.rules.turn_from is None:
            return answer if isinstance(answer, dict) else None
        turn: Any = self.rules.turn_from(answer)
        if turn is None:
            return None
        if not isinstance(turn, dict):
            raise TypeError(f"turn_from returns no turn but {type(turn).__name__}")
        return turn

    def pause_ms(self, state: State) -> int:
        """Returns for how many milliseconds the bots are not asked yet, so that viewers can follow.

        Raises ValueError if the game says what is no such number, or more than an hour.
        """
        if self.rules.pause_ms is None or state["complete"]:
            return 0
        pause_ms: Any = self.rules.pause_ms(state)
        if type(pause_ms) is not int or not 0 <= pause_ms <= MAX_PAUSE_MS:
            raise ValueError(f"pause_ms returns no int of 0 to {MAX_PAUSE_MS}: {pause_ms!r:.64}")
        return pause_ms

    def awaited(self, state: State) -> tuple[str, ...]:
        """Returns the ids of the bots whose turn is awaited; none if the match is complete."""
        if state["complete"]:
            return ()
        return tuple(state["waitingFor"]) if self.simultaneous else (state["nextPlayer"],)

    def check(self, state: State, players: list[str]) -> None:
        """Raises ValueError for a state by which a match could not go on, or would be ranked otherwise than meant.

        That is, if its `complete` is no bool, if it has other players, waits for nobody or for a stranger, or ends with
        malformed `places` or `scores`.
        """
        if state["players"] != players:
            raise ValueError("the state has other players")
        if state["complete"] is not False:
            if state["complete"] is not True:
                raise ValueError("the state is neither complete nor incomplete")
            scores = state.get("scores")
            problem = problem_of_places(state.get("places", []), players)
            problem = problem or (problem_of_scores(scores, players) if are_scores(scores) else None)
            if problem:
                raise ValueError(f"the state {problem}")
            return
        awaited = self.awaited(state)
        if not awaited:
            raise ValueError("the state waits for nobody and is not complete")
        for player in awaited:
            if player not in players:
                raise ValueError("the state waits for somebody who does not play")

    def victor(self, state: State) -> str | None:
        """Returns the winner of a complete match, or None for a draw.

        Raises ValueError if it is none of the players.
        """
        victor: str | None = state["victor"]
        if victor is not None and victor not in state["players"]:
            raise ValueError("the victor is none of the players")
        return victor

    def options_with_defaults(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Returns all options with their values: those given, else their defaults.

        Raises BadMessage, with the detail `option`, for an option that is unknown, out of bounds or of another type, or
        if the game says that the options do not go together; TypeError if it says so by what is no text.
        """
        for name, value in given.items():
            if name not in self.options:
                known = f"has {listed(tuple(self.options))}" if self.options else "has no options"
                raise BadMessage(f"{self.name} has no option {name[:64]!r}; it {known}.", option=name[:64])
            problem = self.options[name].problem(value)
            if problem:
                raise BadMessage(f"The option {name!r} of {self.name} {problem}.", option=name)
        values = {name: deepcopy(given.get(name, option.default)) for name, option in self.options.items()}
        problem = self.rules.check_options(dict(values)) if self.rules.check_options else None
        if problem:
            raise BadMessage(_text("check_options", problem), option=next(iter(given), None))
        return values


def _text(function: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{function} returns no text but {type(value).__name__}")
    return value


def _json(value: Json) -> Json:
    encode(value)
    return value
