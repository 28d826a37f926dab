"""Errors thrown by a game's own code: a draw by the server's fault, told to everybody, and no secret told with it."""

from __future__ import annotations

import json
import sys
from typing import Any

import gevent
import pytest
from matches import NOUGHTS, NUMBERWANG, START_S, Play, a_match, a_simultaneous_game, raising, with_rules

from battlebot.referee.events import Joined, Left, Overdue, TimedOut, Turned
from battlebot.referee.match import Fault
from battlebot.referee.step import start, step
from battlebot.referee.telling import seen_by, update_for

LEGAL = {"mark": "X", "space": [1, 1]}
SECRETS = {"bag": ["Q", "Z"], "racks": {"a": "ABC", "b": "XYZ"}}


def exiting(*_: Any) -> Any:
    """Stands in for a game's function that calls what it should not, maybe deep in a library."""
    sys.exit(3)


def hidden_game(view: Any) -> Play:
    """Numberwang with things in the state that nobody may see, and this `view`."""
    game = with_rules(
        NUMBERWANG,
        initial_state=lambda players, seed, options: NUMBERWANG.initial_state(players, seed, {}) | SECRETS,
        view=view,
    )
    return Play(game)


def visible(state: dict[str, Any], player: str | None) -> dict[str, Any]:
    """Chooses what may be seen, and forgets the keys of the end."""
    return {key: state[key] for key in ("players", "nextPlayer", "complete", "board")} | {
        "rack": state["racks"].get(player)
    }


@pytest.mark.parametrize(
    ("function", "turn"),
    [
        ("validate", LEGAL),
        ("reducer", LEGAL),
        ("explain", {"mark": "X", "space": "?"}),
        ("view", LEGAL),
        ("view", {"mark": "X", "space": "?"}),
    ],
)
def test_a_game_that_raises_ends_the_match_as_a_draw(function: str, turn: dict[str, Any]) -> None:
    """Protocol page: recorded, with fault server; the error's text stays ours."""
    play = Play(with_rules(NOUGHTS, **{function: raising}))
    play.turn("a", **turn)
    assert play.verdict() == (None, "error", "server")
    assert play.match.verdict is not None
    assert play.match.verdict.void
    assert play.match.verdict.evidence == {"error": "ZeroDivisionError", "event": "Turned"}
    assert repr(play.last.failure) == "ZeroDivisionError('secret: 42')"
    assert [bot for bot, _ in play.messages()] == ["a", "b"]
    for _, message in play.messages():
        assert "turn" not in message
        assert message["state"]["victor"] is None
    assert "42" not in json.dumps(play.messages())
    assert play.recorded == []
    assert play.match.version == 0


@pytest.mark.parametrize(
    ("function", "turn"),
    [("validate", LEGAL), ("reducer", LEGAL), ("explain", {"mark": "X", "space": "?"}), ("view", LEGAL)],
)
def test_a_game_that_exits_ends_its_match_and_not_the_process(function: str, turn: dict[str, Any]) -> None:
    """All other matches of the node would end with it, and again as soon as the bot repeats its turn."""
    play = Play(with_rules(NOUGHTS, **{function: exiting}))
    play.turn("a", **turn)
    assert play.verdict() == (None, "error", "server")
    assert play.match.verdict is not None
    assert play.match.verdict.evidence == {"error": "SystemExit", "event": "Turned"}
    assert [bot for bot, _ in play.messages()] == ["a", "b"]


def test_a_game_that_exits_before_the_first_turn_ends_its_match_too() -> None:
    """Like any error there."""
    answer = start(with_rules(NOUGHTS, initial_state=exiting), a_match(), START_S)
    assert answer.match.verdict is not None
    assert answer.match.verdict.evidence == {"error": "SystemExit", "event": "Begun"}


@pytest.mark.parametrize("victor", ["nobody we know", "", 1, ["a"]], ids=repr)
def test_a_victor_who_is_no_player_is_an_error_too(victor: Any) -> None:
    """Protocol page: a bot's id or null. By such a victor both would have lost."""
    end = {"complete": True, "victor": victor, "reason": "complete"}
    play = Play(with_rules(NOUGHTS, reducer=lambda state, turn: {**state, **end}))
    play.turn("a", **LEGAL)
    assert play.verdict() == (None, "error", "server")
    assert [message["state"]["victor"] for _, message in play.messages()] == [None, None]


def test_an_end_without_a_reason_is_given_the_records() -> None:
    """Protocol page: the last update has a reason; clients of the original print it."""
    play = Play(with_rules(NOUGHTS, reducer=lambda state, turn: {**state, "complete": True, "victor": "a"}))
    play.turn("a", **LEGAL)
    assert play.verdict() == ("a", "complete", "none")
    assert [message["state"]["reason"] for _, message in play.messages()] == ["complete", "complete"]


@pytest.mark.parametrize("function", ["view", "view_turn"])
def test_a_game_that_shows_what_is_no_json_ends_the_match(function: str) -> None:
    """A set, for example: found when the turn is committed, it would leave a match of which nobody can be told."""
    play = Play(with_rules(NOUGHTS, **{function: lambda shown, player: {**shown, "seen": {1, 2}}}))
    play.turn("a", **LEGAL)
    assert play.verdict() == (None, "error", "server")
    assert play.match.verdict is not None
    assert play.match.verdict.evidence == {"error": "TypeError", "event": "Turned"}
    assert [bot for bot, _ in play.messages()] == ["a", "b"]
    assert {json.loads(update.text)["state"]["reason"] for update in play.last.updates} == {"error"}


@pytest.mark.parametrize("seen", [None, {}, {"player": "a"}], ids=str)
def test_a_game_that_hides_whose_turn_it_was_ends_the_match(seen: Any) -> None:
    """Bots read `player`, `time` and `valid` in each turn that they are told of."""
    play = Play(with_rules(NOUGHTS, view_turn=lambda turn, player: seen))
    play.turn("a", **LEGAL)
    assert play.verdict() == (None, "error", "server")


@pytest.mark.parametrize(
    "after",
    [
        {"complete": True},
        {"complete": False},
        {"players": ["a", "b"]},
        None,
        "state",
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_reducer_that_returns_no_state_is_an_error_too(after: Any) -> None:
    """A key that must be there is missing: the last good state is kept, and the fault is said to be the game's."""
    play = Play(with_rules(NOUGHTS, reducer=lambda state, turn: after))
    play.turn("a", **LEGAL)
    assert play.verdict() == (None, "error", "server")
    assert play.match.verdict is not None
    assert play.match.verdict.evidence["event"] == "Turned"


def no_json(*given: Any) -> Any:
    """A first state that cannot be sent."""
    return {**NUMBERWANG.initial_state(*given), "bag": {1, 2}}


@pytest.mark.parametrize("first", [raising, no_json])
def test_a_game_without_a_first_state_ends_its_match_before_it_begins(first: Any) -> None:
    """With the smallest state that an update needs."""
    answer = start(with_rules(NUMBERWANG, initial_state=first), a_match(), START_S)
    verdict, state = answer.match.verdict, answer.match.state
    assert verdict is not None
    assert (verdict.void, verdict.evidence) == (True, {"error": type(answer.failure).__name__, "event": "Begun"})
    assert state.items() >= {"players": ["a", "b"], "nextPlayer": None, "complete": True, "victor": None}.items()
    assert [update.final for update in answer.updates] == [True, True]


def test_a_last_state_that_cannot_be_stored_is_not_how_the_match_ended() -> None:
    """The state before it stays."""
    game = with_rules(NUMBERWANG, reducer=lambda state, turn: {**NUMBERWANG.reducer(state, turn), "x": 2**63})
    play = Play(game)
    play.turn("a", n=10)
    assert play.verdict() == (None, "error", "server")
    assert isinstance(play.last.failure, ValueError)
    assert (play.match.version, play.match.state["board"], play.recorded) == (0, {"n": 0}, [])


def test_an_error_of_the_referees_own_is_not_called_the_games() -> None:
    """It ends the match in the same way. No node makes such an event: its time is none."""
    match = a_match()
    answer = step(NUMBERWANG, match, Turned("a", {"n": 1}, 0.1), float("nan"))
    assert answer.match.verdict is not None
    assert answer.match.verdict.fault is Fault.SERVER
    assert answer.match.verdict.evidence == {"error": "an error of the server's own (ValueError)"}
    assert isinstance(answer.failure, ValueError)


def test_what_ends_by_no_error_has_no_failure() -> None:
    """By its rules, for one."""
    play = Play(NUMBERWANG)
    for bot, n in (("a", 4), ("b", 3), ("a", 5)):
        assert play.turn(bot, n=n).failure is None
    assert play.verdict() == ("a", "complete", "none")


def test_a_repeated_turn_of_a_game_that_cannot_be_seen_ends_it_too() -> None:
    """Nobody plays on blind."""
    broken = {"yet": False}

    def view(state: dict[str, Any], player: str | None) -> dict[str, Any]:
        if broken["yet"]:
            raising()
        return state

    play = Play(with_rules(NUMBERWANG, view=view))
    play.turn("a", n=1, version=0)
    broken["yet"] = True
    play.turn("a", n=1, version=0)
    assert play.verdict() == (None, "error", "server")


def test_a_return_to_a_game_that_cannot_be_seen_ends_it_too() -> None:
    """The one who comes back is told with the others, at its place."""
    play = Play(with_rules(NUMBERWANG, view=raising))
    play.event(Joined("a", "a/2"))
    assert play.verdict() == (None, "error", "server")


@pytest.mark.parametrize("event", [Left("a", "a/1", True), Overdue()], ids=repr)
def test_what_shows_nothing_needs_no_view(event: Any) -> None:
    """Leaving does not look at the board."""
    play = Play(with_rules(NUMBERWANG, view=raising))
    play.event(event, 9.0)
    assert play.match.verdict is None


@pytest.mark.parametrize("player", ["a", "b", None])
def test_a_view_that_fails_leaks_no_secret(player: str | None) -> None:
    """Only keys that every game has; at the beginning, and in the end."""
    play = hidden_game(raising)
    assert seen_by(play.game, play.match, player) == {"players": ["a", "b"], "nextPlayer": "a", "complete": False}
    assert update_for(play.game, play.match, play.match.seats[0]).state.keys() == {"players", "nextPlayer", "complete"}
    play.turn("a", n=1)
    assert seen_by(play.game, play.match, player) == {
        "players": ["a", "b"],
        "nextPlayer": "a",
        "complete": True,
        "victor": None,
        "reason": "error",
    }
    assert not {"bag", "racks", "Q", "XYZ"} & set(json.dumps(play.messages()).replace('"', " ").split())
    play = Play(with_rules(a_simultaneous_game(), view=raising))
    assert seen_by(play.game, play.match, player)["waitingFor"] == ["a", "b"]


def test_everybody_sees_its_own_part_only() -> None:
    """Updates go through the game's `view`, to each its own."""
    play = hidden_game(visible)
    play.turn("a", n=1)
    assert [message["state"]["rack"] for _, message in play.messages()] == ["ABC", "XYZ"]
    assert seen_by(play.game, play.match, None)["rack"] is None
    assert "bag" not in json.dumps(play.messages())


@pytest.mark.parametrize(
    "end",
    [lambda play: play.turn("a", n=10), lambda play: play.turn("a", 9.0, n=1)],
    ids=["complete", "timeout"],
)
def test_no_view_can_hide_the_end(end: Any) -> None:
    """Original clients index `victor`; a view that chooses its keys may not know of it."""
    play = hidden_game(visible)
    end(play)
    for _, message in play.messages():
        assert {"victor", "reason"} <= message["state"].keys()
        assert "bag" not in message["state"]


def test_a_view_that_fails_only_at_the_end_does_not_change_the_verdict() -> None:
    """The game was won before it was shown."""
    play = hidden_game(lambda state, player: raising() if state["complete"] else state)
    play.turn("a", n=10)
    assert play.verdict() == ("a", "complete", "none")
    assert len(play.recorded) == 1
    assert "board" not in play.messages()[0][1]["state"]


def test_nothing_is_raised_whatever_the_event() -> None:
    """The arena need not guard itself against games: the match is over, by the server's fault."""
    game = with_rules(NUMBERWANG, validate=raising, reducer=raising, view=raising, explain=raising)
    match = a_match(game)
    for turn in (None, {}, {"n": 1}, {"version": -1}):
        for bot in ("a", "b"):
            answer = step(game, match, Turned(bot, turn, 0.1), START_S)
            assert isinstance(answer.failure, ZeroDivisionError)
            assert answer.match.verdict is not None
            assert answer.match.verdict.void
            assert [update.final for update in answer.updates] == [True, True]
        assert step(game, match, Turned("c", turn, 0.1), START_S).match is match, "this bot has no seat"


@pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit, gevent.GreenletExit, gevent.Timeout])
@pytest.mark.parametrize("function", ["validate", "reducer", "view"])
def test_what_ends_a_process_or_a_greenlet_ends_only_the_match(function: str, error: type[BaseException]) -> None:
    """Else the greenlet that commits the turns of many matches ends, and the bot loses by time."""

    def thrower(*_: Any) -> Any:
        raise error

    play = Play(with_rules(NOUGHTS, **{function: thrower}))
    play.turn("a", **LEGAL)
    assert play.verdict() == (None, "error", "server")
    assert play.match.verdict is not None
    assert play.match.verdict.evidence == {"error": error.__name__, "event": "Turned"}


@pytest.mark.parametrize(
    "changed",
    [
        {"nextPlayer": "stranger"},
        {"nextPlayer": None},
        {"nextPlayer": ["a"]},
        {"players": ["a", "stranger"]},
        {"complete": "no", "victor": "a"},
        {"complete": 0},
        {"complete": True, "victor": "a", "places": [["a"], ["a"]]},
        {"complete": True, "victor": "a", "scores": [{"name": "a", "score": 1.5}]},
        {"complete": True, "victor": "a", "scores": [{"name": "stranger", "score": 1}]},
        {"complete": True, "victor": "a", "scores": [{"name": "a", "score": 1}, {"name": "a", "score": 2}]},
        {"complete": True, "victor": "a", "scores": [{"name": "a", "score": 10**12 + 1}]},
        {"complete": True, "victor": "a", "scores": [{"name": "a", "score": 1}, 7]},
    ],
    ids=str,
)
def test_a_state_by_which_no_match_can_go_on_or_be_ranked_is_an_error(changed: dict[str, Any]) -> None:
    """At once: a match that waits for a stranger would stand still until the server gives it up."""
    play = Play(with_rules(NOUGHTS, reducer=lambda state, turn: {**NOUGHTS.rules.reducer(state, turn), **changed}))
    play.turn("a", **LEGAL)
    assert play.verdict() == (None, "error", "server")
    assert play.match.verdict is not None
    assert play.match.verdict.evidence == {"error": "ValueError", "event": "Turned"}
    assert play.match.state["players"] == ["a", "b"]


@pytest.mark.parametrize("scores", [[3, 4], {"a": 3}, 7, None, []], ids=str)
def test_scores_that_are_the_games_own_are_no_error(scores: Any) -> None:
    """Crossword has always had a number for each player by this name; nothing is added up."""
    end = {"complete": True, "victor": "a", "reason": "complete", "scores": scores}
    play = Play(with_rules(NOUGHTS, reducer=lambda state, turn: {**state, **end}))
    play.turn("a", **LEGAL)
    assert play.verdict() == ("a", "complete", "none")


@pytest.mark.parametrize(
    "pause", [-1, 3_600_001, 0.5, float("nan"), 10**400, None, True, "5", {1}], ids=lambda v: str(v)[:9]
)
def test_a_pause_that_is_no_time_is_the_games_error(pause: Any) -> None:
    """With a negative one the match would be overdue at once; with a huge one it would never be."""
    play = Play(with_rules(NOUGHTS, pause_ms=lambda state: 0 if state["nextPlayer"] == "a" else pause))
    play.turn("a", **LEGAL)
    assert play.verdict() == (None, "error", "server")
    assert play.match.verdict is not None
    assert play.match.verdict.evidence == {"error": "ValueError", "event": "Turned"}


def test_a_first_state_that_is_too_large_ends_its_match_before_it_begins() -> None:
    """No later one could be smaller by much, and none such can be stored."""
    large = {"x": "é" * 2_500_000}
    game = with_rules(NUMBERWANG, initial_state=lambda *given: NUMBERWANG.initial_state(*given) | large)
    answer = start(game, a_match(), START_S)
    assert answer.match.verdict is not None
    assert answer.match.verdict.evidence == {"error": "ValueError", "event": "Begun"}
    assert str(answer.failure) == "the game's state has 5,000,078 bytes as JSON, which are too many to be stored"


def test_a_match_whose_state_could_not_be_stored_ends_without_it() -> None:
    """However it ends: its record has what every game has."""
    play = Play(with_rules(NUMBERWANG, reducer=lambda state, turn: {**state, "nextPlayer": "b", "x": {"$ref": 1}}))
    play.turn("a", n=1)
    assert play.match.verdict is None
    play.event(TimedOut("b", 1, 3.0), 3.0)
    assert play.verdict() == (None, "error", "server")
    end = {"complete": True, "victor": None, "reason": "error"}
    assert play.match.state == {"players": ["a", "b"], "nextPlayer": "b", **end}


@pytest.mark.parametrize("sentence", [None, 7, {1, 2}, b"no", "half a pair: \ud800"], ids=ascii)
def test_an_explanation_that_is_no_text_is_the_games_error(sentence: Any) -> None:
    """Found only when it is sent, it would close the bot's connection again and again, until the bot has lost."""
    play = Play(with_rules(NOUGHTS, explain=lambda state, turn: sentence))
    play.turn("a", mark="X", space="?")
    assert play.verdict() == (None, "error", "server")


def test_a_very_long_explanation_is_cut() -> None:
    """It is sent to the bot, and kept in the record if it was the last strike."""
    play = Play(with_rules(NOUGHTS, explain=lambda state, turn: "no " * 1_000_000))
    play.turn("a", mark="X", space="?")
    assert play.match.verdict is None
    assert len(play.last.updates[0].error or "") == 1000


def test_a_game_that_changes_its_turn_does_not_change_the_record() -> None:
    """What is recorded and echoed is what the bot sent."""

    def reducer(state: dict[str, Any], turn: dict[str, Any]) -> dict[str, Any]:
        after = NOUGHTS.rules.reducer(state, turn)
        turn["player"] = "stranger"
        return after

    play = Play(with_rules(NOUGHTS, reducer=reducer))
    play.turn("a", **LEGAL)
    assert [entry["turn"]["player"] for entry in play.recorded] == ["a"]


@pytest.mark.parametrize("seen", [[1], {"board": []}, None], ids=str)
def test_a_view_that_is_no_state_is_an_error(seen: Any) -> None:
    """A bot would not see that it is asked, and lose by time."""
    play = Play(with_rules(NOUGHTS, view=lambda state, player: seen))
    play.turn("a", **LEGAL)
    assert play.verdict() == (None, "error", "server")
