"""Matches for the referee's tests, and `checked_step`: a step that checks what must hold for every step."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from types import ModuleType
from typing import Any

import msgspec

from battlebot.arena.live.calls import decode_match, encode_match
from battlebot.referee.advance import MARKS, Step, entered
from battlebot.referee.events import Event, Turned
from battlebot.referee.match import Limits, Match, Seat
from battlebot.referee.step import NUDGE_AFTER_S, step, with_first_due
from battlebot.rules.contract import Game
from battlebot.rules.module import game_from_module
from battlebot.rules.registry import discover

GAMES = discover()
NUMBERWANG = GAMES["numberwang"]
NOUGHTS = GAMES["noughtsandcrosses"]

START_S = 1_700_000_000.25
LIMITS = Limits(turn_timeout_s=3.0, max_strikes=3, node_grace_s=15.0, max_turns=1_000_000)
SERVERS_KEYS = {"player", "time", "valid"}


def a_match(game: Game = NUMBERWANG, bots: tuple[str, ...] = ("a", "b"), **limits: Any) -> Match:
    """Returns a match at its beginning, at START_S; the bot `x` sits at the place `x/1`."""
    played_under = msgspec.structs.replace(LIMITS, **limits)
    match = Match(
        id="65a1b2c3d4e5f60718293a4b",
        game=game.name,
        contest=None,
        seats=tuple(Seat(bot, f"{bot}/1", played_under.turn_timeout_s) for bot in bots),
        state=game.initial_state(bots, 7, {}),
        limits=played_under,
        options={},
        seed=7,
        started_s=START_S,
    )
    return with_first_due(game, match, START_S)


def checked_step(game: Game, match: Match, event: Event, now_s: float) -> Step:
    """Calls `step`, and asserts each law that every answer obeys."""
    before = encode_match(match)
    answer = step(game, match, event, now_s)
    assert encode_match(match) == before, "the match that was given has been changed"
    after = answer.match
    if match.verdict is not None:
        assert after is match, "a match changed after its verdict"
    else:
        assert answer.reply == (after is match), "only what is not committed is a reply"
    if after is match:
        assert answer.recorded is None
    else:
        assert after.revision == match.revision + 1
    assert after.version == match.version + (answer.recorded is not None)
    if answer.recorded is not None and after.verdict is None:
        mover = after.seat_of(answer.recorded["turn"]["player"])
        if mover is not None and mover.bot not in game.awaited(after.state):
            assert (mover.asked_s, mover.since_s) == (None, None), "no clock runs for who has moved"
    assert decode_match(encode_match(after)) == after
    _check_deadline(game, after, now_s, changed=after is not match)
    _check_updates(match, answer)
    return answer


def _check_deadline(game: Game, match: Match, now_s: float, changed: bool) -> None:
    for seat in match.seats:
        if match.verdict is None and game.goes_on_without and seat.bot not in game.awaited(match.state):
            assert seat.back_by_s is None, "others play on without who is not asked"
        assert 0 <= seat.strikes <= match.limits.max_strikes
        assert 0 <= seat.remaining_s <= match.limits.turn_timeout_s
    if match.verdict is not None:
        assert match.due_s is None
        assert match.state["complete"] is True
        assert match.state["victor"] == match.verdict.victor
        return
    assert match.state["complete"] is False
    assert match.due_s is not None
    assert math.isfinite(match.due_s)
    if changed:
        furthest_s = max(match.limits.turn_timeout_s + NUDGE_AFTER_S, match.limits.node_grace_s)
        assert match.due_s <= now_s + furthest_s


def _check_updates(before: Match, answer: Step) -> None:
    for update in answer.updates:
        message = json.loads(update.text)
        assert "state" in message, "original clients index it in every message"
        assert (update.match_id, update.revision) == (answer.match.id, answer.match.revision)
        assert set(message.get("turn", SERVERS_KEYS)) >= SERVERS_KEYS
        assert not (update.asks and answer.match.verdict), "a match that is over asks for nothing"
        assert update.final == message["state"]["complete"]
        assert update.final == ("victor" in message["state"]) == ("reason" in message["state"])
        assert (update.code is None) == (update.error is None)
    if answer.match.verdict is not None and before.verdict is None:
        finals = [update.bot for update in answer.updates if update.final]
        assert finals == [seat.bot for seat in before.seats], "everybody is told the end, once"
        assert all(update.final for update in answer.updates[-len(finals) :]), "and nothing after it"


class Play:
    """A match being played: each call is a checked step, whose answer is kept in `last`."""

    def __init__(self, game: Game = NUMBERWANG, bots: tuple[str, ...] = ("a", "b"), **limits: Any) -> None:
        self.game = game
        self.match = a_match(game, bots, **limits)
        self.now_s = START_S
        self.last = Step(self.match)
        self.recorded: list[dict[str, Any]] = []

    def event(self, event: Event, after_s: float = 0.0) -> Step:
        """Makes an event happen, `after_s` seconds later."""
        self.now_s += after_s
        self.last = checked_step(self.game, self.match, event, self.now_s)
        self.match = self.last.match
        if self.last.recorded is not None:
            self.recorded.append(self.last.recorded)
        return self.last

    def turn(self, bot: str, thinking_s: float = 0.5, /, **turn: Any) -> Step:
        """Lets a bot send a JSON object."""
        return self.event(Turned(bot, turn, thinking_s), thinking_s)

    def garbage(self, bot: str, thinking_s: float = 0.5) -> Step:
        """Lets a bot send something that is not a JSON object."""
        return self.event(Turned(bot, None, thinking_s), thinking_s)

    def seat(self, bot: str) -> Seat:
        """Returns the bot's seat as it is now."""
        seat = self.match.seat_of(bot)
        assert seat is not None
        return seat

    def verdict(self) -> tuple[str | None, str, str]:
        """Returns victor, reason, fault; fails if there is none."""
        assert self.match.verdict is not None
        return (self.match.verdict.victor, self.match.verdict.reason.value, self.match.verdict.fault.value)

    def messages(self) -> list[tuple[str, dict[str, Any]]]:
        """Returns the last step's updates as sent: (bot, message)."""
        return [(update.bot, json.loads(update.text)) for update in self.last.updates]


def with_rules(game: Game, **functions: Any) -> Game:
    """Returns the game with other functions."""
    return replace(game, rules=replace(game.rules, **functions))


def raising(*_: Any) -> Any:
    """Stands in for a game's function with a bug."""
    raise ZeroDivisionError("secret: 42")


def a_simultaneous_game() -> Game:
    """Returns a game in which all name a number unseen; if the largest is named twice, they play another round."""

    def validate(state: dict[str, Any], turn: dict[str, Any]) -> bool:
        return turn["player"] in state["waitingFor"] and type(turn.get("n")) is int

    def reducer(state: dict[str, Any], turn: dict[str, Any]) -> dict[str, Any]:
        named = {**state["named"], turn["player"]: turn["n"]}
        waiting = [player for player in state["waitingFor"] if player != turn["player"]]
        if waiting:
            return {**state, "named": named, "waitingFor": waiting}
        best = max(named.values())
        winners = [player for player, n in named.items() if n == best]
        if len(winners) > 1:
            return {**state, "named": {}, "waitingFor": state["players"], "round": state["round"] + 1}
        return {**state, "named": named, "waitingFor": [], "complete": True, "victor": winners[0], "reason": "complete"}

    module = ModuleType("games.largest", "The largest number wins.")
    module.__dict__.update(
        GAME={"name": "largest", "title": "Largest", "players": (2, 4), "simultaneous": True},
        initial_state=lambda players, seed, options: {
            "players": players,
            "nextPlayer": None,
            "waitingFor": players,
            "complete": False,
            "named": {},
            "round": 1,
        },
        validate=validate,
        reducer=reducer,
        view=lambda state, player: {
            **state,
            "named": state["named"] if state["complete"] else {k: v for k, v in state["named"].items() if k == player},
        },
    )
    return game_from_module(module)


def a_game_that_goes_on() -> Game:
    """Returns that game with one more rule: who is out has named no number, and the others play on."""

    def forfeit(state: dict[str, Any], player: str, cause: Any) -> dict[str, Any]:
        out = {**state, "out": {**state.get("out", {}), player: cause}}
        waiting = [name for name in state["waitingFor"] if name != player]
        if waiting:
            return {**out, "waitingFor": waiting}
        left = [name for name in state["players"] if name not in out["out"]]
        if len(left) > 1:
            return {**out, "named": {}, "waitingFor": left, "round": state["round"] + 1}
        return {**out, "waitingFor": [], "complete": True, "victor": left[0] if left else None, "reason": "complete"}

    return with_rules(a_simultaneous_game(), forfeit=forfeit)


def replayed(play: Play, bots: tuple[str, ...]) -> dict[str, Any]:
    """Returns the state to which the record leads, from the seed, by the game alone."""
    state = play.game.initial_state(bots, play.match.seed, {})
    for entry in play.recorded:
        mark = next((mark for mark in MARKS if entry.get(mark)), None)
        assert mark is not None or play.game.validate(state, entry["turn"])
        state = entered(play.game, state, entry["turn"], mark)
    return state
