"""What a bot that is asked does: it makes a turn, it lets its clock run out, it gives no answer that counts."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from battlebot.referee import ending
from battlebot.referee.advance import KeptTurn, Step, applied, version_of
from battlebot.referee.events import GaveUp, TimedOut, Turned
from battlebot.referee.match import Match, Seat
from battlebot.referee.outcome import lost
from battlebot.referee.seating import charged, with_seat
from battlebot.referee.telling import told
from battlebot.rules.contract import SERVERS_KEYS, Game
from battlebot.wire.jsontext import encode


def turned(game: Game, match: Match, event: Turned, now_s: float) -> Step:
    """Answers what a bot sent: its turn is valid, invalid, stale, or one that it has sent already."""
    seat = match.seat_of(event.bot)
    if seat is None or event.version not in (None, match.version):
        return Step(match)
    on_turn = event.bot in game.awaited(match.state)
    if event.question is not None and not (on_turn and event.question == seat.question):
        return Step(match)
    turn = event.turn or {}
    if not SERVERS_KEYS.isdisjoint(turn):
        turn = {key: value for key, value in turn.items() if key not in SERVERS_KEYS}
    text = encode(turn)
    kept = KeptTurn(version_of(turn, match, event.at), text, seat.recorded_bytes + len(text.encode()))
    repeated = _repeated(game, match, seat, turn, kept, on_turn, now_s)
    if repeated is not None:
        return repeated
    if on_turn and event.thinking_s > seat.remaining_s:
        return lost(game, match, seat, ending.timeout(match, seat, event.thinking_s), now_s)
    offered = {**turn, "player": event.bot, "time": int(now_s * 1000)}
    problem = _problem(game, match, event, offered, kept)
    if problem is not None:
        seat = charged(seat, event.thinking_s, now_s) if on_turn else seat
        return _strike(game, match, seat, event, offered, problem, now_s)
    return applied(game, match, seat, offered, kept, event, now_s)


def _problem(
    game: Game, match: Match, event: Turned, offered: dict[str, Any], kept: KeptTurn
) -> tuple[str, str] | None:
    """Returns why the turn is invalid, as a code and a sentence, or None if it is valid."""
    if event.turn is None:
        return "bad-message", event.refusal or "A turn must be one JSON object."
    if kept.version > match.version:
        return "bad-version", f"The match is at version {match.version}."
    if not game.validate(match.state, offered):
        return "invalid-turn", game.explain(match.state, offered)
    most = match.limits.max_record_bytes
    if kept.recorded_bytes > most:
        return "too-much", f"A match keeps {most} bytes of a bot's turns; with this one they would be more."
    return None


def _repeated(
    game: Game, match: Match, seat: Seat, turn: dict[str, Any], kept: KeptTurn, on_turn: bool, now_s: float
) -> Step | None:
    """Returns the reply to a turn for an earlier question or another match: acknowledged again, or stale. Else None.

    In a simultaneous game others' turns do not change a bot's question, and a second answer to it comes too late. In a
    game that goes on without who is out, so does whatever comes from a bot that is not asked: others' matches must not
    end by it.
    """
    version = kept.version
    if "match" in turn and _is_for_another(turn, match):
        echo = {**turn, "player": seat.bot, "time": int(now_s * 1000), "valid": False}
        sentence = f"This turn is for match {turn['match']}; this is match {match.id}."
        return Step(match, (told(game, match, seat, echo, "stale", sentence),))
    too_late = not on_turn and (game.goes_on_without or (game.simultaneous and version <= match.version))
    if not (too_late or 0 <= version < (seat.question if on_turn else match.version)):
        return None
    echo = {**turn, "player": seat.bot, "time": int(now_s * 1000)}
    if seat.answered == (version, kept.text):
        return Step(match, (told(game, match, seat, {**echo, "time": seat.answered_ms, "valid": True}),))
    echo["valid"] = False
    sentence = f"This turn is for version {version}; the match is at {match.version}."
    if too_late:
        sentence = "This bot has given its turn, or is out: it is not asked now."
    return Step(match, (told(game, match, seat, echo, "stale", sentence),))


def _is_for_another(turn: dict[str, Any], match: Match) -> bool:
    """Returns whether a turn names another match, ended meanwhile; without a version the key is the bot's own."""
    version = turn.get("version")
    return isinstance(turn["match"], str) and type(version) is int and turn["match"] != match.id


def _strike(
    game: Game,
    match: Match,
    seat: Seat,
    event: Turned,
    offered: dict[str, Any],
    problem: tuple[str, str],
    now_s: float,
) -> Step:
    struck = replace(seat, strikes=seat.strikes + 1)
    match = with_seat(match, struck)
    own = told(game, match, struck, {**offered, "valid": False}, *problem)
    if struck.strikes < match.limits.max_strikes and not event.unforgiving:
        return Step(match, (own,))
    over = lost(game, match, struck, ending.strikes(match, struck, problem), now_s)
    if over.match.verdict is not None:
        own = replace(own, asks=False, fault=over.match.verdict.fault.value)
        return replace(over, updates=(own, *over.updates))
    # of two updates of one revision, neither the last of the match, a bot is told the first only
    updates = (
        replace(update, turn=own.turn, code=own.code, error=own.error) if update.bot == own.bot else update
        for update in over.updates
    )
    return replace(over, updates=tuple(updates))


def _asked(game: Game, match: Match, event: TimedOut | GaveUp) -> Seat | None:
    """Returns the bot's seat, or None if it is not, or no longer, asked the question of the event's version."""
    seat = match.seat_of(event.bot)
    if seat is None or event.version != seat.question or event.bot not in game.awaited(match.state):
        return None
    return seat


def timed_out(game: Game, match: Match, event: TimedOut, now_s: float) -> Step:
    """Has the seat lose, unless its bot has left it or has time left."""
    seat = _asked(game, match, event)
    if seat is None or seat.place is None or event.thinking_s < seat.remaining_s:
        return Step(match)
    return lost(game, match, seat, ending.timeout(match, seat, event.thinking_s, event.unread), now_s)


def gave_up(game: Game, match: Match, event: GaveUp, now_s: float) -> Step:
    """Has the seat of a stateless bot lose; if that ends the match, the others are told why."""
    seat = _asked(game, match, event)
    if seat is None:
        return Step(match)
    answer = lost(game, match, seat, ending.gave_up(match, seat, event), now_s, event.cause)
    if answer.match.verdict is None or game.goes_on_without:
        return answer
    # its opponents have seen no turn by which it lost
    sentence = f"{seat.bot} was asked, and gave no answer that counts: the match is over, and it has lost."
    updates = (
        update if update.bot == seat.bot else replace(update, code="opponent-failed", error=sentence)
        for update in answer.updates
    )
    return replace(answer, updates=tuple(updates))
