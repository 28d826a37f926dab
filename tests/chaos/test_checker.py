"""The checker: two bots' contest in order, then with one thing wrong at a time, which it must find."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from chaos.checker import problems, tally, undeserved_strikes
from chaos.evidence import Evidence
from games import connectfour

Spoil = Callable[[Evidence], None]

MATCH, VOID = "m1", "m0"
COLUMNS = [0, 1, 0, 1, 0, 1, 0]  # ann has four in a column


def contest() -> Evidence:
    """Ann and bob: one match is void after a turn, then ann beats bob."""
    diary: list[dict[str, Any]] = []
    record = played(MATCH, COLUMNS, diary)
    void = played(VOID, [3], diary)
    void |= {"victor": None, "reason": "error"}
    void["match"] |= {"void": True, "fault": "server"}
    return Evidence(
        contest={"entrants": ["ann", "bob"], "state": "finished"},
        games=[void, record],
        meetings=[{"_id": MATCH, "pair": "ann/bob", "n": 1, "state": "played"}],
        standings=[standing("ann", played=1, wins=1), standing("bob", played=1, losses=1)],
        pairs=[standing("ann", opponent="bob", wins=1), standing("bob", opponent="ann", losses=1)],
        diary=diary,
    )


def standing(bot: str, **counts: Any) -> dict[str, Any]:
    """A row."""
    return {"bot_id": bot, **counts}


def played(match: str, columns: list[int], diary: list[dict[str, Any]]) -> dict[str, Any]:
    """The record of a match that ann began; what both were told and sent goes into the diary."""
    state = connectfour.initial_state(["ann", "bob"], 0, {})
    turns: list[dict[str, Any]] = []
    for version, column in enumerate(columns):
        mover = state["nextPlayer"]
        sent = {"column": column}
        diary.append(row(mover, "answered", match, version, turn=sent))
        turns.append({**sent, "player": mover, "time": 1000 + version})
        state = connectfour.reducer(state, turns[-1])
        told = {**turns[-1], "valid": True}
        diary += [row(bot, "told", match, version + 1, state=state, turn=told) for bot in ("ann", "bob")]
    about = {"seed": 0, "options": {}, "version": len(turns), "void": False, "fault": "none", "evidence": {}}
    board = {key: state[key] for key in ("board", "marks", "players")}
    ending = {"victor": state.get("victor"), "reason": state.get("reason"), "turns": turns, "match": about}
    return {"_id": match, "game": "connectfour", **board, **ending}


def row(bot: str, what: str, match: str, version: int, **details: Any) -> dict[str, Any]:
    """A line of a diary."""
    return {"bot": bot, "what": what, "match": match, "version": version, **details}


def record_of(evidence: Evidence) -> dict[str, Any]:
    """The match that counts."""
    return evidence.games[1]


def test_a_contest_in_order_has_no_problems() -> None:
    """And its numbers are these."""
    evidence = contest()
    assert problems(evidence, ["ann", "bob"], 1) == []
    numbers = tally(evidence)
    assert (numbers["matches"], numbers["void"], numbers["turns"], numbers["acknowledged"]) == (2, 1, 8, 8)


def without_a_turn(evidence: Evidence) -> None:
    """The last turn is not in the record, which else fits."""
    record = record_of(evidence)
    record["turns"].pop()
    record["match"]["version"] -= 1


def another_turn(evidence: Evidence) -> None:
    """Bob's first turn is recorded as another than he sent."""
    record_of(evidence)["turns"][1]["column"] = 2


def twice(evidence: Evidence) -> None:
    """A turn is recorded twice."""
    record_of(evidence)["turns"].insert(1, record_of(evidence)["turns"][0])


def not_replayable(evidence: Evidence) -> None:
    """A turn by who was not on turn."""
    record_of(evidence)["turns"][1]["player"] = "ann"


def other_victor(evidence: Evidence) -> None:
    """The record says that bob won."""
    record_of(evidence)["victor"] = "bob"


def other_board(evidence: Evidence) -> None:
    """The stored board is not what the turns make."""
    record_of(evidence)["board"] = copy.deepcopy(record_of(evidence)["board"])
    record_of(evidence)["board"][0][0] = "X"


def unrecorded(evidence: Evidence) -> None:
    """A void match left no record."""
    evidence.games.pop(0)


def sixth_meeting(evidence: Evidence) -> None:
    """The pair met once more than it had to."""
    again = copy.deepcopy(record_of(evidence))
    again["_id"] = VOID
    evidence.games[0] = again


def void_counts(evidence: Evidence) -> None:
    """A meeting is held to be played by a match that was void."""
    evidence.meetings[0]["_id"] = VOID


def still_open(evidence: Evidence) -> None:
    """A meeting never ended."""
    evidence.meetings[0]["state"] = "open"


def wrong_standing(evidence: Evidence) -> None:
    """A win too many."""
    evidence.standings[0]["wins"] = 2


def wrong_pair(evidence: Evidence) -> None:
    """The crosstable lacks a result."""
    evidence.pairs.pop()


def by_time(evidence: Evidence) -> None:
    """Bob lost by time, and has not been slow."""
    evidence.diary.clear()
    evidence.games = [played(MATCH, COLUMNS[:-1], evidence.diary)]
    evidence.games[0] |= {"victor": "ann", "reason": "timeout"}


def void_by_a_bot(evidence: Evidence) -> None:
    """A match that counts for nobody though it was no fault of the server's."""
    evidence.games[0]["match"]["fault"] = "bot"


def back_in_time(evidence: Evidence) -> None:
    """A bot is told an older state than it knew."""
    evidence.diary.append(next(line for line in evidence.diary if line["what"] == "told"))


def another_end(evidence: Evidence) -> None:
    """A bot was told another end than the record's."""
    last = [line for line in evidence.diary if line["match"] == MATCH][-1]
    last["state"] = {**last["state"], "victor": None}


def live(evidence: Evidence) -> None:
    """A match hangs."""
    evidence.live.append("m2")


def unarchived(evidence: Evidence) -> None:
    """A match ended and was not stored."""
    evidence.unarchived.append("m2")


def unfinished(evidence: Evidence) -> None:
    """The contest goes on for ever."""
    evidence.contest["state"] = "running"


def gave_up(evidence: Evidence) -> None:
    """The SDK left its author alone."""
    evidence.diary.append({"bot": "ann", "what": "died", "why": "Unreachable"})


WRONGS: list[tuple[Spoil, str]] = [
    (without_a_turn, "its turn was acknowledged, and is not in the record"),
    (another_turn, "has a turn 1 that bob did not send"),
    (twice, "turn 1 of the record is not valid"),
    (not_replayable, "turn 1 of the record is not valid"),
    (other_victor, "replayed, it ends with victor ann, recorded is bob"),
    (other_board, "replayed, the final state differs in ['board']"),
    (unrecorded, "which is not recorded"),
    (sixth_meeting, "ann and bob met 2 times, not 1"),
    (void_counts, "match m0 is a meeting without a record"),
    (still_open, "meeting 1 of ann/bob is open"),
    (wrong_standing, "ann has 2 wins in the standings, 1 in the games"),
    (wrong_pair, "('bob', 'ann') has 0 losses in the standings, 1 in the games"),
    (by_time, "bob lost match m1 by timeout, undeserved"),
    (void_by_a_bot, "match m0 is void with fault bot"),
    (back_in_time, "after a newer one"),
    (another_end, "the end was (None, 'complete'), recorded is ('ann', 'complete')"),
    (live, "match m2 is still live"),
    (unarchived, "match m2 has ended and is not archived"),
    (unfinished, "the contest is running"),
    (gave_up, "ann gave up: Unreachable"),
]


@pytest.mark.parametrize(("spoil", "sentence"), WRONGS, ids=[spoil.__name__ for spoil, _ in WRONGS])
def test_what_is_wrong_is_found(spoil: Spoil, sentence: str) -> None:
    """In a sentence."""
    evidence = contest()
    spoil(evidence)
    found = problems(evidence, ["ann", "bob"], 1)
    assert any(sentence in problem for problem in found), found


@pytest.mark.parametrize(("at", "deserved"), [(0, True), (1, False)], ids=["at the end", "elsewhere"])
def test_who_was_slow_deserves_to_lose_by_time_there_and_then(at: int, deserved: bool) -> None:
    """The same as `by_time`, but for what bob wrote down."""
    evidence = contest()
    by_time(evidence)
    version = len(evidence.games[-1]["turns"]) - at
    evidence.diary.append({"bot": "bob", "what": "misbehaved", "match": MATCH, "version": version, "how": "slow"})
    assert (problems(evidence, ["ann", "bob"], 1) == []) is deserved


def test_strikes_beyond_a_bots_own_blunders_are_counted() -> None:
    """One of two was deserved."""
    evidence = contest()
    record_of(evidence)["match"]["strikes"] = {"bob": 2}
    evidence.diary.append({"bot": "bob", "what": "misbehaved", "match": MATCH, "how": "blunder"})
    assert list(undeserved_strikes(evidence)) == [("bob", MATCH, 1)]
