"""What a stateless bot is asked, and what its answers are to the referee."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from battlebot.arena.live.making import new_match
from battlebot.arena.live.questions import content_of, turned
from battlebot.arena.places import STATELESS_PLACE
from battlebot.config import Settings
from battlebot.referee.events import Failed, GaveUp, Turned
from battlebot.referee.match import Match
from battlebot.rules.registry import Registry

ADDRESS = "http://bots.example/a"


def match_of(registry: Registry, game: str) -> Match:
    """A match of two stateless bots."""
    seats = [(bot, STATELESS_PLACE) for bot in "ab"]
    return new_match(registry[game], seats, Settings(), 1000.0, addresses={"a": ADDRESS, "b": ADDRESS})


def test_a_game_that_says_nothing_asks_as_a_connected_bot_is_asked(registry: Registry) -> None:
    """The update's state and what is said of the match, and whose turn it is."""
    match = match_of(registry, "noughtsandcrosses")
    content = content_of(registry["noughtsandcrosses"], match, match.seats[0])
    assert content["bot_id"] == "a"
    assert content["state"]["nextPlayer"] == "a"
    assert content["match"]["remainingMs"] == 3000


def test_battlecube_asks_in_the_words_of_its_seed(registry: Registry) -> None:
    """And no others: neither the match's seed, nor what is planned."""
    match = match_of(registry, "battlecube")
    content = content_of(registry["battlecube"], match, match.seats[1])
    assert content.keys() == {"currentPlayer", "gameInfo", "players", "items"}
    assert content["currentPlayer"] == {"name": "b", "url": ADDRESS}


@pytest.mark.parametrize(("remaining_s", "shown_ms"), [(1.5, 1000), (0.25, 0)])
def test_no_question_says_that_less_than_no_time_is_left(registry: Registry, remaining_s: float, shown_ms: int) -> None:
    """Where a game words its questions itself: what is left, without the leeway, but never below zero."""
    plain = registry["noughtsandcrosses"]
    game = replace(plain, rules=replace(plain.rules, question=lambda state, player, about: about))
    made = match_of(registry, "noughtsandcrosses")
    match = structs.replace(made, limits=structs.replace(made.limits, leeway_s=0.5))
    seat = structs.replace(match.seats[0], remaining_s=remaining_s)
    assert content_of(game, match, seat)["remainingMs"] == shown_ms


ANSWERS: list[tuple[str, Any, Any]] = [
    ("noughtsandcrosses", {"mark": "X", "space": [0, 0]}, {"mark": "X", "space": [0, 0]}),
    ("noughtsandcrosses", {"mark": "X", "space": [0, 0], "version": 7, "valid": 1}, {"mark": "X", "space": [0, 0]}),
    ("noughtsandcrosses", {"mark": "O", "space": [0, 0]}, None),
    ("noughtsandcrosses", [], None),
    ("noughtsandcrosses", None, None),
    ("battlecube", [{"task": "NOOP"}], {"tasks": [{"task": "NOOP"}]}),
    ("battlecube", {"tasks": [{"task": "NOOP"}]}, None),
    ("battlecube", [], None),
    ("battlecube", "NOOP", None),
]


@pytest.mark.parametrize(("game", "value", "turn"), ANSWERS)
def test_an_answer_is_a_turn_or_the_bot_has_given_up(registry: Registry, game: str, value: Any, turn: Any) -> None:
    """It has no strikes: whoever can be asked again would answer the same."""
    match = match_of(registry, game)
    event = turned(registry[game], match, match.seats[0], value, 0.1)
    if turn is not None:
        assert isinstance(event, Turned)
        assert (event.turn, event.question) == (turn, 0)
    else:
        assert isinstance(event, GaveUp)
        assert (event.reason, event.cause["error"]) == ("invalid", "VALIDATION_ERROR")


def test_a_game_that_exits_at_an_answer_has_failed(registry: Registry) -> None:
    """The worker that asks has other matches too."""
    plain = registry["noughtsandcrosses"]
    game = replace(plain, rules=replace(plain.rules, turn_from=lambda answer: sys.exit(3)))
    match = match_of(registry, "noughtsandcrosses")
    event = turned(game, match, match.seats[0], {}, 0.1)
    assert isinstance(event, Failed)
    assert isinstance(event.cause, SystemExit)


@pytest.mark.parametrize("turn", [[1], "turn", 7, {"n": {1}}, {"n": 2**64 - 1}, {"n": "\ud800"}, {1: 1}], ids=ascii)
def test_a_game_that_makes_no_turn_of_an_answer_has_failed(registry: Registry, turn: Any) -> None:
    """Else the bot would lose by it, or the record could not be stored. `None` says that it is the bot's doing."""
    plain = registry["noughtsandcrosses"]
    game = replace(plain, rules=replace(plain.rules, turn_from=lambda answer: turn, validate=lambda state, turn: True))
    match = match_of(registry, "noughtsandcrosses")
    assert isinstance(turned(game, match, match.seats[0], {}, 0.1), Failed)


def mistaken(*_: Any) -> Any:
    """A game's function with a mistake."""
    raise LookupError


@pytest.mark.parametrize(
    "function",
    [{"question": lambda *_: {1, 2}}, {"question": lambda *_: float}, {"view": mistaken}, {"view": lambda *_: {}}],
    ids=lambda function: next(iter(function)),
)
def test_a_game_that_asks_nonsense_raises(registry: Registry, function: dict[str, Any]) -> None:
    """Before the bot is asked: it would have to answer without the board, or look as if it could not be reached."""
    plain = registry["noughtsandcrosses"]
    game = replace(plain, rules=replace(plain.rules, **function))
    match = match_of(registry, "noughtsandcrosses")
    with pytest.raises((TypeError, LookupError)):
        content_of(game, match, match.seats[0])
