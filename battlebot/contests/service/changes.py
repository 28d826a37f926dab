"""Decides what becomes of a contest by each action: from a `Contest` to a `Change`. `organiser` carries it out.

A decision may be repeated with a newer contest, so it reads nothing else and has no side effects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from battlebot.contests.contest import OPEN_STATES, OVER, Contest
from battlebot.errors import Refused, WrongState
from battlebot.storage.audit import Note
from battlebot.storage.contests import Change, Stop
from battlebot.storage.voids import VoidCause

CLOCK = "clock"  # in the audit: who starts and ends contests at their time

# action -> (the states in which it may be taken, the state after it)
TRANSITIONS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "start": (("scheduled",), "running"),
    "pause": (("running",), "paused"),
    "resume": (("paused",), "running"),
    "finish": (("running", "paused"), "finished"),
    "cancel": (OPEN_STATES, "cancelled"),
    "reopen": (("finished",), "running"),
}
CHANGEABLE_BEFORE_THE_START = frozenset(
    {"format", "config", "meetings", "entrants", "options", "turnTimeoutMs", "points", "startsAt"}
)


def moved(contest: Contest, action: str, by: str, now: datetime) -> Change:
    """Takes an action of `TRANSITIONS`. Raises WrongState if the contest's state does not allow it."""
    states, after = TRANSITIONS[action]
    if contest.state not in states:
        raise WrongState(f"One cannot {action} a contest that is {contest.state}.", state=contest.state)
    contest = replace(contest, state=after)
    if action == "start":
        contest = replace(contest, started_at=now)
    if after == "running":
        contest = replace(contest, runs_since=now, ended_at=None)
    if after in OVER:
        contest = replace(contest, ended_at=now)
    stop = Stop(VoidCause(by, "the contest was cancelled")) if action == "cancel" else None
    return Change(contest, [Note(by, action)], stop)


def on_time(contest: Contest, now: datetime) -> Change | None:
    """Starts or ends a contest whose time has come; None if it has not.

    If both its start and its end have passed, the contest is started and finished. A contest that its organiser was to
    start and has not by its end is cancelled.
    """
    state, starts, ends = contest.state, contest.starts_at, contest.ends_at
    begins = state == "scheduled" and starts is not None and starts <= now
    if state not in OPEN_STATES or ends is None or ends > now:
        return moved(contest, "start", CLOCK, now) if begins else None
    if not begins:
        return moved(contest, "cancel" if state == "scheduled" else "finish", CLOCK, now)
    start = moved(contest, "start", CLOCK, now)
    finish = moved(start.contest, "finish", CLOCK, now)
    return Change(finish.contest, [*start.notes, *finish.notes])


def changed(contest: Contest, changes: Mapping[str, Any], by: str) -> Change:
    """Sets these fields, named as in a document. Raises WrongState for those that may no longer change.

    With a new list of entrants, no bot counts as withdrawn any more.
    """
    late = sorted(set(changes) & CHANGEABLE_BEFORE_THE_START)
    if contest.state not in (("scheduled",) if late else OPEN_STATES):
        what = f"{', '.join(late)} may change only before the start" if late else "nothing may change any more"
        raise WrongState(f"The contest {contest.name!r} is {contest.state}: {what}.", state=contest.state)
    fields = dict(changes)
    if isinstance(changes.get("entrants"), list) and contest.withdrawn:
        fields["withdrawn"] = []
    return Change(contest.with_fields(fields), [Note(by, "change", fields)])


def entered(contest: Contest, bots: Sequence[str], came: Sequence[str], by: str) -> Change | None:
    """Enters these bots, all or none; None if all of them are in already. `came`: the bots in an open contest.

    New bots may enter a contest with a list before its start; withdrawn ones may come back until it is over. Raises
    WrongState.
    """
    _still_going_on(contest)
    named = dict.fromkeys(bots)
    back = [bot for bot in contest.withdrawn if bot in named]
    known = {*contest.bots(came), *back}
    fresh = [bot for bot in named if bot not in known]
    if fresh and contest.is_open:
        raise WrongState("An open contest takes whoever comes; it has no list of entrants.", state=contest.state)
    if fresh and contest.state != "scheduled":
        what = "takes new bots only before its start"
        raise WrongState(f"The contest {contest.name!r} is {contest.state}: it {what}.", state=contest.state)
    if not fresh and not back:
        return None
    # the meetings that a returning bot had left are due again, in rounds that were over without it
    after = replace(contest, withdrawn=[bot for bot in contest.withdrawn if bot not in named], settled=0)
    if fresh:
        after = replace(after, entrants=[*contest.listed, *fresh])
    came_in = {*fresh, *back}
    return Change(after, [Note(by, "enter", {"bots": [bot for bot in named if bot in came_in]})])


def withdrawn(contest: Contest, bot: str, came: Sequence[str], by: str) -> Change | None:
    """Withdraws the bot; None if it is withdrawn already. Raises WrongState, Refused for a bot not in the contest."""
    _still_going_on(contest)
    if bot not in contest.bots(came):
        raise Refused(f"The bot {bot!r} is no entrant of {contest.name!r}.", field="bot")
    if bot in contest.withdrawn:
        return None
    stop = Stop(VoidCause(by, f"{bot} was withdrawn"), bot)
    after = replace(contest, withdrawn=[*contest.withdrawn, bot])
    return Change(after, [Note(by, "withdraw", {"bot": bot})], stop)


def taken_back(contest: Contest, match_id: str, why: VoidCause, now: datetime) -> Change:
    """Records that a match is taken back. Reopens a finished contest unless its end has passed."""
    note = Note(why.by, "void", {"match": match_id, "reason": why.reason})
    if contest.over(now) != "for-now":
        return Change(contest, [note])
    reopened = moved(contest, "reopen", why.by, now)
    return Change(reopened.contest, [note, *reopened.notes])


def _still_going_on(contest: Contest) -> None:
    if contest.state not in OPEN_STATES:
        what = f"The contest {contest.name!r} is {contest.state}: nothing may change any more."
        raise WrongState(what, state=contest.state)
