"""Judges the evidence: reports what a bot was told, or a contest owes, that is not as it must be. Pure.

It shares no code with the server except the games' rules, with which matches are replayed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from chaos.evidence import Document, Evidence
from chaos.replay import ADDED, replay_problems, states_of

CAP = 5
# what a bot must have done to lose so; a bot that comes back after it quit may find too little time left, and a bot
# whose connection is cut while it lets its time run out is not back in time
VICES = {"timeout": ("slow", "quit"), "disconnect": ("slow", "quit"), "invalid": ("blunder",)}
NOT_COMPARED = ("time", "valid", "version")


def problems(evidence: Evidence, bots: list[str], meetings: int) -> list[str]:
    """Returns a sentence for each broken promise; none if all is well. `meetings`: of each pair of `bots`."""
    records = {record["_id"]: record for record in evidence.games}
    states = {match: states_of(record) for match, record in records.items()}
    found = [
        f"match {match}: {problem}"
        for match, record in records.items()
        for problem in replay_problems(record, states[match])
    ]
    found += _contest_problems(evidence, bots, meetings)
    found += _standings_problems(evidence)
    found += _verdict_problems(evidence)
    found += _diary_problems(evidence, records, states)
    found += [f"match {match} is still live in Redis" for match in evidence.live]
    found += [f"match {match} has ended and is not archived" for match in evidence.unarchived]
    return found


def tally(evidence: Evidence) -> Document:
    """Returns numbers for the report."""
    told = [row for row in evidence.diary if row["what"] == "told"]
    acked = {
        (row["bot"], row["match"], _index(row)) for row in told if row["turn"] and _is_acknowledgement(row, row["turn"])
    }
    return {
        "matches": len(evidence.games),
        "void": sum(record["match"]["void"] for record in evidence.games),
        "turns": sum(len(record["turns"]) for record in evidence.games),
        "acknowledged": len(acked),
        "told": len(told),
        "connections_lost": sum(_lost(row) for row in evidence.diary),
        "ends": dict(Counter(f"{record['reason']}/{record['match']['fault']}" for record in evidence.games)),
        "misbehaved": dict(Counter(row["how"] for row in evidence.diary if row["what"] == "misbehaved")),
        "undeserved_strikes": sum(undeserved for _, _, undeserved in undeserved_strikes(evidence)),
    }


def _lost(row: Document) -> bool:
    lost = row["what"] == "logged" and "connecting again" in row["text"]
    return lost or (row["what"] == "ended" and not row["why"].startswith("closed 1000"))


def _contest_problems(evidence: Evidence, bots: list[str], meetings: int) -> Iterator[str]:
    if evidence.contest.get("entrants", "open") != "open" and evidence.contest["state"] != "finished":
        yield f"the contest is {evidence.contest['state']}"
    counting = [record for record in evidence.games if not record["match"]["void"]]
    met = Counter(_pair(record["players"]) for record in counting)
    for pair in combinations(sorted(bots), 2):
        if met[pair] != meetings or met[pair] > CAP:
            yield f"{pair[0]} and {pair[1]} met {met[pair]} times, not {meetings}"
    for pair in met.keys() - set(combinations(sorted(bots), 2)):
        yield f"{pair} met, and are no pair of this contest"
    for row in evidence.meetings:
        if row["state"] != "played":
            yield f"meeting {row['n']} of {row['pair']} is {row['state']}"
    played = {row["_id"] for row in evidence.meetings}
    for odd in played ^ {record["_id"] for record in counting}:
        yield f"match {odd} is {'a meeting without a record' if odd in played else 'recorded without a meeting'}"
    numbers = Counter((row["pair"], row["n"]) for row in evidence.meetings)
    yield from (f"meeting {n} of {pair} was played {count} times" for (pair, n), count in numbers.items() if count > 1)


def _standings_problems(evidence: Evidence) -> Iterator[str]:
    bots: dict[Any, Counter[str]] = defaultdict(Counter)
    for record in evidence.games:
        if record["match"]["void"]:
            continue
        for bot in record["players"]:
            outcome = "draws" if record["victor"] is None else "wins" if record["victor"] == bot else "losses"
            other = next(player for player in record["players"] if player != bot)
            bots[bot].update(("played", outcome))
            bots[bot, other].update((outcome,))
    kept = {row["bot_id"]: row for row in evidence.standings}
    kept |= {(row["bot_id"], row["opponent"]): row for row in evidence.pairs}
    for who in kept.keys() | bots.keys():
        for count in ("played", "wins", "draws", "losses"):
            if isinstance(who, tuple) and count == "played":
                continue
            stands = kept.get(who, {}).get(count, 0)
            if stands != bots[who][count]:
                yield f"{who} has {stands} {count} in the standings, {bots[who][count]} in the games"


def _verdict_problems(evidence: Evidence) -> Iterator[str]:
    deeds = _deeds(evidence)
    for record in evidence.games:
        reason, about = record["reason"], record["match"]
        if reason == "complete":
            continue
        if about["void"]:
            if about["fault"] != "server" or record["victor"] is not None:
                yield f"match {record['_id']} is void with fault {about['fault']} and victor {record['victor']}"
            continue
        if reason not in VICES:
            yield f"match {record['_id']} ended by {reason} and counts"
            continue
        for loser in (bot for bot in record["players"] if bot != record["victor"]):
            if not any(deeds[loser, record["_id"], vice] for vice in VICES[reason]):
                yield f"{loser} lost match {record['_id']} by {reason}, undeserved: {about['evidence']}"


def undeserved_strikes(evidence: Evidence) -> Iterator[tuple[str, str, int]]:
    """Yields (bot, match, count) of invalid turns on the record beyond those that the bot made on purpose."""
    deeds = _deeds(evidence)
    for record in evidence.games:
        for bot, strikes in record["match"].get("strikes", {}).items():
            undeserved = strikes - deeds[bot, record["_id"], "blunder"]
            if undeserved > 0:
                yield bot, record["_id"], undeserved


def _deeds(evidence: Evidence) -> Counter[tuple[str, str, str]]:
    """Counts what each bot did in each match, as (bot, match, how); `slow` counts only at the match's last version."""
    ends = {record["_id"]: len(record["turns"]) for record in evidence.games}
    rows = (row for row in evidence.diary if row["what"] == "misbehaved")
    return Counter(
        (row["bot"], row["match"], row["how"])
        for row in rows
        if row["how"] != "slow" or row["version"] == ends.get(row["match"])
    )


def _diary_problems(
    evidence: Evidence, records: dict[str, Document], states: dict[str, list[Document]]
) -> Iterator[str]:
    answered: dict[tuple[str, str, int], list[Document]] = defaultdict(list)
    newest: dict[tuple[str, str], int] = {}
    for row in evidence.diary:
        if row["what"] == "died":
            yield f"{row['bot']} gave up: {row['why']}"
        elif row["what"] == "answered":
            answered[row["bot"], row["match"], row["version"]].append(row["turn"])
        elif row["what"] == "told":
            where = f"{row['bot']} was told of version {row['version']} of match {row['match']}"
            if row["version"] < newest.get((row["bot"], row["match"]), 0):
                yield f"{where}, after a newer one"
            newest[row["bot"], row["match"]] = row["version"]
            record = records.get(row["match"])
            if record is None:
                yield f"{where}, which is not recorded"
            else:
                yield from (f"{where}: {wrong}" for wrong in _told_wrong(row, record, states[row["match"]]))
    for match, record in records.items():
        for version, turn in enumerate(record["turns"]):
            if not any(_same(sent, turn) for sent in answered[turn["player"], match, version]):
                yield f"match {match} has a turn {version} that {turn['player']} did not send: {turn}"


def _told_wrong(row: Document, record: Document, states: list[Document]) -> Iterator[str]:
    version, state, turn = row["version"], row["state"], row["turn"]
    if turn and _is_acknowledgement(row, turn):
        index = _index(row)
        if index >= len(record["turns"]) or not _same(turn, record["turns"][index]):
            yield f"its turn was acknowledged, and is not in the record: {turn}"
    if version >= len(states):
        yield f"the record ends at version {len(states) - 1}"
        return
    if _without(state, ADDED) != _without(states[version], ADDED):
        yield "the record has another state there"
    if state["complete"]:
        verdict = (state.get("victor"), state.get("reason"))
        if verdict != (record["victor"], record["reason"]):
            yield f"the end was {verdict}, recorded is {(record['victor'], record['reason'])}"
        if version != len(states) - 1:
            yield f"it was the end, the record goes on to {len(states) - 1}"


def _is_acknowledgement(row: Document, turn: Document) -> bool:
    return turn.get("player") == row["bot"] and turn.get("valid") is True


def _index(row: Document) -> int:
    """Returns the acknowledged turn's index in the record; a repeated turn names the version that it answered."""
    return int(row["turn"].get("version", row["version"] - 1))


def _same(sent: Document, recorded: Document) -> bool:
    """Returns whether everything sent is recorded; keys that the server sets are not compared."""
    return all(recorded.get(key) == value for key, value in sent.items() if key not in NOT_COMPARED)


def _without(state: Document, keys: tuple[str, ...]) -> Document:
    return {key: value for key, value in state.items() if key not in keys}


def _pair(players: list[str]) -> tuple[str, str]:
    first, second = sorted(players)
    return first, second
