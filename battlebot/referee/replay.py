"""Replays a stored match by its game's rules and reports what in the record does not follow from its turns. Pure.

A finding is `{"code", "sentence"}`; no findings means that the record is what its turns make.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from battlebot.referee.advance import MARKS, entered
from battlebot.referee.ending import BEGINNING, storable
from battlebot.referee.match import Fault, Reason
from battlebot.rules.contract import RAISED_OUTSIDE, RESERVED_OF_A_STATE, Game
from battlebot.wire.jsontext import encode

Finding = dict[str, str]
Record = Mapping[str, Any]

# what the archive adds to a final state, or leaves out of it
NOT_OF_THE_STATE = RESERVED_OF_A_STATE | {"complete", "nextPlayer"}
END = frozenset(("victor", "reason"))
ROUNDING_MS = 1.0
CLOCKS_APART_MS = 2000  # successive turns may have been stamped by two machines
KINDS: Mapping[str, type] = {"players": list, "turns": list, "match": dict}
KINDS_ABOUT: Mapping[str, type] = {"seq": int, "void": bool, "version": int, "evidence": dict, "strikes": dict}


def check_match(game: Game, record: Record) -> list[Finding]:
    """Returns what in a stored match, with all its turns, does not follow from its players, seed, options and turns.

    All randomness of a game comes from the seed, so equal turns make equal states.
    """
    try:
        return [*_kinds(record), *_counts(record), *_replayed(game, record)]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        return [finding("incomplete", f"The record cannot be read ({type(error).__name__}: {error}).")]


def states(game: Game, record: Record) -> Iterator[dict[str, Any]]:
    """Yields the state before the first turn of a stored match and after each turn. Raises what the game raises."""
    marks = _marks(record)
    state = game.initial_state(*_beginning(record))
    yield state
    for number, turn in enumerate(record["turns"], start=1):
        state = entered(game, state, turn, marks.get(number))
        yield state


def _beginning(record: Record) -> tuple[Any, Any, Any]:
    """Returns the players, the seed and the options, of which the game makes the first state."""
    return record["players"], record["match"]["seed"], record["match"]["options"]


def _marks(record: Record) -> dict[int, str]:
    """Returns number -> mark of those entries in `turns` that are no turn of a bot."""
    return {number: mark for mark in MARKS for number in record["match"].get(mark, ())}


def finding(code: str, sentence: str) -> Finding:
    """Returns a finding: a stable slug and a sentence."""
    return {"code": code, "sentence": sentence}


def _kinds(record: Record) -> Iterator[Finding]:
    for values, kinds in ((record, KINDS), (record["match"], KINDS_ABOUT)):
        for name, kind in kinds.items():
            if not _is(values[name], kind):
                yield finding("incomplete", f"The record's {name} is a {type(values[name]).__name__}.")


def _is(value: object, kind: type) -> bool:
    # not type(): MongoDB's long integers are a subclass of int; but so are booleans
    return isinstance(value, kind) and isinstance(value, bool) is (kind is bool)


def _counts(record: Record) -> Iterator[Finding]:
    turns, about = record["turns"], record["match"]
    if about["version"] != len(turns):
        yield finding("turns", f"The record holds {len(turns)} turns; the match was at version {about['version']}.")
    for name in ("clocks", "serverMs"):
        if name in about and len(about[name]) != len(turns):
            yield finding("times", f"The record holds {len(about[name])} values of {name} for {len(turns)} turns.")
    before_ms = record["startTime"].timestamp() * 1000
    for number, turn in enumerate(turns, start=1):
        if not _is(turn["time"], int) or turn["time"] < before_ms - CLOCKS_APART_MS:
            yield finding(
                "times", f"Turn {number} was made at {turn['time']!r}, which is no time after what was before it."
            )
            break
        before_ms = turn["time"]
    limit_ms, out = about["turnTimeoutMs"], about.get("forfeit", ())
    for number, charged_ms in enumerate(about["clocks"], start=1):
        # a forfeit by time took longer than the clock
        if charged_ms < 0 or (charged_ms > limit_ms + ROUNDING_MS and number not in out):
            yield finding("clock", f"Turn {number} took {charged_ms:g} ms of a clock of {limit_ms} ms.")


def _replayed(game: Game, record: Record) -> Iterator[Finding]:
    if record["match"]["evidence"].get("event") == BEGINNING:
        # the game failed to make a state that could be compared
        return
    beginning, marks = _beginning(record), _marks(record)
    try:
        state = game.initial_state(*beginning)
    except RAISED_OUTSIDE as error:
        yield finding("game-error", f"The game's code makes no first state ({type(error).__name__}: {error}).")
        return
    for number, turn in enumerate(record["turns"], start=1):
        mark = marks.get(number)
        if state["complete"]:
            yield finding("after-the-end", f"Turn {number} was made after the end of the match.")
            return
        if mark != "reconfigured" and turn["player"] not in game.awaited(state):
            yield finding("out-of-turn", f"Turn {number} is not of a bot that was to move.")
            return
        try:
            if mark is None and not game.validate(state, turn):
                yield finding("invalid-turn", f"Turn {number} is not valid: {game.explain(state, turn)}")
                return
            state = entered(game, state, turn, mark)
        except RAISED_OUTSIDE as error:
            yield finding("game-error", f"The game's code failed at turn {number} ({type(error).__name__}).")
            return
    yield from _differences(state, record)
    yield from _verdict(game, state, record)


def _differences(state: Mapping[str, Any], record: Record) -> Iterator[Finding]:
    for key in sorted(RESERVED_OF_A_STATE & state.keys()):
        yield finding("state", f"The final state's {key} is not in the record: what is stored by that name is another.")
    left_out = NOT_OF_THE_STATE | END
    replayed = {key: value for key, value in storable(dict(state)).items() if key not in left_out}
    stored = {key: value for key, value in record.items() if key not in left_out}
    for key in sorted({*replayed, *stored}):
        if key not in stored or key not in replayed or encode(stored[key]) != encode(replayed[key]):
            yield finding("state", f"The final state's {key} is not what the turns make.")


def _verdict(game: Game, state: Mapping[str, Any], record: Record) -> Iterator[Finding]:
    about, victor = record["match"], record["victor"]
    reason, fault = Reason(record["reason"]), Fault(about["fault"])
    if victor is not None and victor not in record["players"]:
        yield finding("victor", "The victor is none of the players.")
    if fault not in FAULTS[reason]:
        yield finding("fault", f"A match that ended by {reason.value!r} is recorded as the fault of {fault.value!r}.")
    if fault is Fault.SERVER and not about["void"]:
        yield finding("void", "The match ended by the server's fault, and counts all the same.")
    if record["contest"] is None and about["void"] and fault is not Fault.SERVER and reason is not Reason.VOID:
        yield finding("void", "The match counts for nobody, and there is no reason why.")
    if state["complete"] != (reason is Reason.COMPLETE):
        is_was = "is over" if state["complete"] else "is not over"
        yield finding("reason", f"By its rules the match {is_was} after its turns; it is recorded as {reason.value!r}.")
    elif state["complete"] and state["victor"] != victor:
        yield finding("victor", "The victor is not who won by the rules.")
    elif not state["complete"]:
        yield from PROOFS.get(reason, _of_nobody)(game, state, record)


def _of_nobody(game: Game, state: Mapping[str, Any], record: Record) -> Iterator[Finding]:
    if record["victor"] is not None:
        yield finding("victor", f"A match that ended by {record['reason']!r} has no victor.")


def _of_a_timeout(game: Game, state: Mapping[str, Any], record: Record) -> Iterator[Finding]:
    proof = record["match"]["evidence"]
    if proof["bot"] not in game.awaited(dict(state)):
        yield finding("evidence", "The bot that ran out of time was not to move.")
    # the evidence for a stateless bot's time-out has no `leftMs`
    if "leftMs" in proof and not proof["leftMs"] <= min(proof["thinkingMs"], proof["limitMs"]):
        yield finding("evidence", f"{proof['thinkingMs']} ms of {proof['leftMs']} ms are no time-out.")
    if record["victor"] == proof["bot"]:
        yield finding("victor", "The bot that ran out of time is the victor.")


def _of_strikes(game: Game, state: Mapping[str, Any], record: Record) -> Iterator[Finding]:
    proof = record["match"]["evidence"]
    if "strikes" in proof and record["match"]["strikes"].get(proof["bot"]) != proof["strikes"]:
        yield finding("evidence", "The bot's strikes are not those that ended the match.")
    if record["victor"] == proof["bot"]:
        yield finding("victor", "The bot that made too many invalid turns is the victor.")


def _of_absence(game: Game, state: Mapping[str, Any], record: Record) -> Iterator[Finding]:
    proof = record["match"]["evidence"]
    late = proof["emptiedBy"]
    if not late or not set(late) <= set(proof["absent"]):
        yield finding("evidence", "No bot is recorded as gone for too long.")
    if record["victor"] in late:
        yield finding("victor", "A bot that was gone for too long is the victor.")
    for bot in late:
        if proof.get("awayMs", {}).get(bot, 0) + ROUNDING_MS < proof.get("allowedMs", {}).get(bot, 0):
            yield finding("evidence", f"A bot was gone for {proof['awayMs'][bot]} ms, which it was allowed to be.")


FAULTS = {
    Reason.COMPLETE: (Fault.NONE,),
    Reason.DISCONNECT: (Fault.BOT, Fault.NETWORK),
    Reason.TIMEOUT: (Fault.BOT,),
    Reason.INVALID: (Fault.BOT,),
    Reason.ERROR: (Fault.SERVER,),
    Reason.LENGTH: (Fault.NONE,),
    Reason.VOID: (Fault.NONE,),
}
PROOFS: Mapping[Reason, Callable[[Game, Mapping[str, Any], Record], Iterator[Finding]]] = {
    Reason.TIMEOUT: _of_a_timeout,
    Reason.INVALID: _of_strikes,
    Reason.DISCONNECT: _of_absence,
}
