"""Verdicts: how a match can end, by its game's own rules or otherwise, and whose fault each end is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from msgspec.structs import replace

from battlebot.referee.events import Event, GaveUp
from battlebot.referee.match import Fault, Match, Reason, Seat, Verdict
from battlebot.rules.contract import Game, State
from battlebot.storable import problem_of_storing

BEGINNING = "Begun"  # in the evidence, instead of an event: the game failed to make its first state
SAME_TIME_S = 1.0  # both gone "at about the same time" is a draw, as in the original


def with_verdict(match: Match, verdict: Verdict) -> Match:
    """Returns the match with its verdict, also in the state, where bots see it (`complete`, `victor`, `reason`)."""
    state = {**match.state, "complete": True, "victor": verdict.victor, "reason": verdict.reason.value}
    return replace(match, state=state, verdict=verdict)


def storable(state: State) -> State:
    """Returns the state as a record can keep it: as it is, or without all that is the game's own."""
    if problem_of_storing(state) is None:
        return state
    return {key: state[key] for key in ("players", "nextPlayer", "complete")}


def bare(match: Match) -> Match:
    """Returns the match with the smallest state that an update needs: its own can be written no more."""
    players = [seat.bot for seat in match.seats]
    return replace(match, state={"players": players, "nextPlayer": None, "complete": False})


def complete(game: Game, match: Match) -> Match:
    """Returns the match with the verdict for the game's own end, nobody's fault; bots are always told a `reason`."""
    verdict = Verdict(game.victor(match.state), Reason.COMPLETE, Fault.NONE, {"turns": match.version})
    if isinstance(match.state.get("reason"), str):
        return replace(match, verdict=verdict)
    return with_verdict(match, verdict)


def timeout(match: Match, seat: Seat, thinking_s: float, unread: bool = False) -> Verdict:
    """Returns the verdict for a seat whose clock ran out while its bot was connected and asked.

    `leftMs` is what was left of `limitMs` when the bot was asked, or asked again.
    """
    evidence: dict[str, Any] = {
        "bot": seat.bot,
        "version": match.version,
        "thinkingMs": round(thinking_s * 1000),
        "leftMs": round(seat.remaining_s * 1000),
        "limitMs": round(match.limits.turn_timeout_s * 1000),
    }
    if unread:
        evidence["unread"] = True
    return Verdict(_other(match, [seat]), Reason.TIMEOUT, Fault.BOT, evidence)


def strikes(match: Match, seat: Seat, problem: tuple[str, str]) -> Verdict:
    """Returns the verdict for a seat that sent its last allowed invalid turn; `problem` is its code and sentence."""
    code, sentence = problem
    evidence = {"bot": seat.bot, "version": match.version, "strikes": seat.strikes, "code": code, "sentence": sentence}
    return Verdict(_other(match, [seat]), Reason.INVALID, Fault.BOT, evidence)


def gave_up(match: Match, seat: Seat, event: GaveUp) -> Verdict:
    """Returns the verdict for a stateless bot that gave no valid answer."""
    evidence = {
        "bot": seat.bot,
        "version": match.version,
        "thinkingMs": round(event.thinking_s * 1000),
        "limitMs": round(match.limits.turn_timeout_s * 1000),
        "code": event.code,
        "sentence": event.sentence,
    }
    return Verdict(_other(match, [seat]), Reason(event.reason), Fault.BOT, evidence)


def cause(verdict: Verdict) -> str:
    """Returns why a seat is out of a match that goes on, as a sentence."""
    evidence = verdict.evidence
    if verdict.reason is Reason.TIMEOUT:
        return f"The bot did not answer within {evidence['limitMs']} ms."
    if verdict.reason is Reason.DISCONNECT:
        return "The bot's connection was gone, and it did not come back in time."
    return f"The bot's turns were not valid: {evidence['sentence']}"


def absence(match: Match, late: Sequence[Seat], now_s: float, elsewhere: Collection[str]) -> Verdict:
    """Returns the verdict for seats that stayed empty too long: void if the server emptied one of `late`.

    But bots that are connected `elsewhere` could have come back: of these it counts as if they had left by themselves.

    Each bot that left within `SAME_TIME_S` of the first of `late`, before or after it, loses. If no other bot remains,
    nobody wins: all were gone at about the same time. Any other absent bot has time left to come back, and wins: who
    leaves when its time is nearly over gains nothing by it.
    """
    empty = [seat for seat in match.seats if seat.place is None]
    evidence = _of_absence(empty, late, now_s)
    evaded = {seat.bot for seat in late if seat.emptied_by is Fault.SERVER and seat.bot in elsewhere}
    if evaded:
        evidence["elsewhere"] = sorted(evaded)
        empty, late = _as_if_left(empty, evaded), _as_if_left(late, evaded)
    if any(seat.emptied_by is Fault.SERVER for seat in late):
        return server_fault(evidence)
    first_s = min(seat.left_s or 0.0 for seat in late)
    left = [seat for seat in empty if seat.emptied_by in (Fault.BOT, Fault.NETWORK)]
    gone = [seat for seat in left if abs((seat.left_s or 0.0) - first_s) <= SAME_TIME_S]
    fault = Fault.BOT if any(seat.emptied_by is Fault.BOT for seat in late) else Fault.NETWORK
    return Verdict(_other(match, gone), Reason.DISCONNECT, fault, evidence)


def _of_absence(empty: Sequence[Seat], late: Sequence[Seat], now_s: float) -> dict[str, Any]:
    """Returns the evidence: who is absent, whose doing that is, for how long each has been away, and was allowed to."""
    return {
        "absent": [seat.bot for seat in empty],
        "emptiedBy": {seat.bot: seat.emptied_by.value for seat in late},
        "how": {seat.bot: seat.how for seat in empty},
        "awayMs": {seat.bot: round((now_s - seat.left_s) * 1000) for seat in empty if seat.left_s is not None},
        "allowedMs": {
            seat.bot: round((seat.back_by_s - seat.left_s) * 1000)
            for seat in empty
            if seat.left_s is not None and seat.back_by_s is not None
        },
    }


def _as_if_left(seats: Sequence[Seat], bots: Collection[str]) -> list[Seat]:
    return [replace(seat, emptied_by=Fault.BOT) if seat.bot in bots else seat for seat in seats]


def server_fault(evidence: dict[str, Any]) -> Verdict:
    """Returns the verdict if the server cannot go on: a draw (as in the original) that counts for nobody."""
    return Verdict(None, Reason.ERROR, Fault.SERVER, evidence)


def failure(error: BaseException, event: Event) -> Verdict:
    """Returns the verdict for an exception at an event; names the event only if the game's code raised it."""
    name = type(error).__name__
    if _came_through(Game.__module__, error):
        return server_fault({"error": name, "event": type(event).__name__})
    return server_fault({"error": f"an error of the server's own ({name})"})


def _came_through(module: str, error: BaseException) -> bool:
    """Returns whether an error was raised in a module or in what it called. Reads the traceback: turns cost nothing."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals.get("__name__") != module:
        trace = trace.tb_next
    return trace is not None


def _other(match: Match, losers: Sequence[Seat]) -> str | None:
    """Returns the one bot that is not among the losers, or None unless there is exactly one."""
    lost = {seat.bot for seat in losers}
    others = [seat.bot for seat in match.seats if seat.bot not in lost]
    return others[0] if len(others) == 1 else None
