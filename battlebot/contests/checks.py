"""Checks a contest's matches and meetings against each other and the cap. Pure. `storage` recounts the standings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from battlebot.contests.cap import cap_of
from battlebot.contests.contest import Contest
from battlebot.contests.installed import format_of
from battlebot.errors import FormatMissing

Finding = dict[str, str]
ASKED = ("players", "victor")  # of a match


def check_contest(
    contest: Contest, games: Iterable[Mapping[str, Any]], meetings: Iterable[Mapping[str, Any]]
) -> list[Finding]:
    """What is inconsistent in a contest's record, each `{"code", "sentence", "match"?}`.

    `games`: its stored matches, including void ones, `{_id, players, victor, match: {void}}`. `meetings`: as stored.
    """
    # no more of each: there may be hundreds of thousands, with large states
    counted = {game["_id"]: {name: game[name] for name in ASKED} for game in games if not game["match"]["void"]}
    kept = {meeting["_id"]: meeting for meeting in meetings}
    return [
        *_of_the_format(contest, counted.values(), kept.values()),
        *_matches_without_a_meeting(counted, kept),
        *_meetings_without_a_match(counted, kept),
    ]


def _finding(code: str, sentence: str, match: str | None = None) -> Finding:
    return {"code": code, "sentence": sentence, **({} if match is None else {"match": match})}


def _of_the_format(
    contest: Contest, games: Iterable[Mapping[str, Any]], meetings: Iterable[Mapping[str, Any]]
) -> Iterator[Finding]:
    try:
        yield from _cap(cap_of(contest), format_of(contest).TOGETHER, games, meetings)
    except FormatMissing as error:
        yield _finding(error.code, f"{error} The cap of meetings cannot be checked.")


def _cap(
    cap: int, together: bool, games: Iterable[Mapping[str, Any]], meetings: Iterable[Mapping[str, Any]]
) -> Iterator[Finding]:
    """`together`: all meetings share one numbering, whichever bots take part in each."""
    met: Counter[str] = Counter()
    numbers: Counter[tuple[str, int]] = Counter()

    def who(bots: Sequence[str]) -> str:
        return "All" if together else " and ".join(sorted(bots))

    met.update(who(game["players"]) for game in games)
    for meeting in meetings:
        bots = who(meeting["bots"])
        numbers[bots, meeting["n"]] += 1
        met[bots] += meeting["state"] == "absent"
        if not 1 <= meeting["n"] <= cap:
            sentence = f"Meeting {meeting['n']} of {bots} is beyond the {cap} that there are."
            yield _finding("over-cap", sentence, meeting["_id"])
    for bots, count in sorted(met.items()):
        if count > cap:
            yield _finding("over-cap", f"{bots} have met {count} times; {cap} are allowed.")
    for (bots, n), count in sorted(numbers.items()):
        if count > 1:
            yield _finding("same-meeting", f"{bots} have met {count} times for the {n}. time.")


def _matches_without_a_meeting(
    games: Mapping[str, Mapping[str, Any]], meetings: Mapping[str, Mapping[str, Any]]
) -> Iterator[Finding]:
    for match_id, game in games.items():
        meeting = meetings.get(match_id)
        if meeting is None or meeting["state"] != "played":
            yield _finding("no-meeting", "A match counts that is no played meeting.", match_id)
        elif list(meeting["bots"]) != list(game["players"]) or meeting.get("victor") != game["victor"]:
            yield _finding("meeting", "The meeting has other bots or another victor than its match.", match_id)


def _meetings_without_a_match(
    games: Mapping[str, Mapping[str, Any]], meetings: Mapping[str, Mapping[str, Any]]
) -> Iterator[Finding]:
    for match_id, meeting in meetings.items():
        if meeting["state"] == "played" and match_id not in games:
            yield _finding("no-match", "A meeting is played, but its match is not stored, or void.", match_id)
