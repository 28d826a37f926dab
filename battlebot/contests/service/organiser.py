"""What an organiser does to contests: scheduling, starting, pausing, ending, entrants, taking matches back.

Every change is one conditional write, so that of several processes exactly one makes it; and is written down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import structlog

from battlebot.arena import keys
from battlebot.arena.bus import Bus
from battlebot.arena.conduct import Conductor
from battlebot.contests.formats import format_named
from battlebot.errors import Refused, UnknownContest, UnknownMatch, WrongState
from battlebot.referee.events import Voided
from battlebot.referee.match import Match
from battlebot.rules.contract import Game
from battlebot.storage import Storage

log = structlog.get_logger()

CLOCK = "clock"  # who starts and ends contests at their time, in the audit
ITSELF = "contest"  # who finishes a contest in which nothing is left to play

# action -> (the states in which it may be taken, the state after it, the field that keeps the moment)
TRANSITIONS: Mapping[str, tuple[tuple[str, ...], str, str | None]] = {
    "start": (("scheduled",), "running", "startedAt"),
    "pause": (("running",), "paused", None),
    "resume": (("paused",), "running", None),
    "finish": (("running", "paused"), "finished", "endedAt"),
    "cancel": (("scheduled", "running", "paused"), "cancelled", "endedAt"),
    "reopen": (("finished",), "running", None),
}
CHANGEABLE_BEFORE_THE_START = frozenset(
    {"format", "config", "meetings", "entrants", "options", "turnTimeoutMs", "points", "startsAt"}
)
CHANGEABLE = frozenset({"title", "endsAt", "absentAfterS", "absentCounts"})


@dataclass
class Organiser:
    """`ask_pairing(game, contest)` and `ask_rating(game)` enqueue tasks; they do not raise.

    Every method raises Unavailable when a store does not answer, UnknownContest for a contest that is not there.
    """

    registry: Mapping[str, Game]
    storage: Storage
    conductor: Conductor
    bus: Bus
    ask_pairing: Callable[[str, str], None]
    ask_rating: Callable[[str], None]

    def create(self, game: str, given: Mapping[str, Any], by: str) -> dict[str, Any]:
        """Schedules a contest from checked fields; without `startsAt` it waits for `start`. Answers its document.

        Raises NameTaken; Refused or BadMessage with the field that is not acceptable.
        """
        contest = {"title": given["name"], **given, "game": game, "state": "scheduled", "openedBy": by}
        self._check(game, contest)
        document = self.storage.contests.create(contest)
        self._note(document, by, "create", {"format": document["format"], "meetings": document["meetings"]})
        return document

    def change(self, game: str, name: str, changes: Mapping[str, Any], by: str) -> dict[str, Any]:
        """Changes what may still change. Raises WrongState for what may not, Refused as `create`."""
        contest = self.contest(game, name)
        late = sorted(set(changes) & CHANGEABLE_BEFORE_THE_START)
        states = ("scheduled",) if late else ("scheduled", "running", "paused")
        self._check(game, {**contest, **changes})
        found = self.storage.contests.change(contest, states, {"$set": dict(changes)})
        if found is None:
            what = f"{', '.join(late)} may change only before the start" if late else "nothing may change any more"
            raise WrongState(f"The contest {name!r} is {contest['state']}: {what}.", state=contest["state"])
        self._note(found, by, "change", dict(changes))
        return found

    def transition(self, action: str, game: str, name: str, by: str) -> dict[str, Any]:
        """start, pause, resume, finish or cancel. Raises WrongState if the contest's state does not allow it."""
        contest = self.contest(game, name)
        found = self._transition(action, contest, by)
        if found is None:
            raise WrongState(f"One cannot {action} a contest that is {contest['state']}.", state=contest["state"])
        return found

    def enter(self, game: str, name: str, bots: Sequence[str], by: str) -> dict[str, Any]:
        """Adds entrants to a closed contest that has not started; a withdrawn bot comes back at any time."""
        contest = self.contest(game, name)
        self._check_bots(game, bots)
        if contest["entrants"] == "open":
            raise WrongState("An open contest takes whoever comes; it has no list of entrants.")
        back = [bot for bot in bots if bot in contest["withdrawn"]]
        fresh = [bot for bot in bots if bot not in contest["entrants"]]
        if fresh:
            self.change(game, name, {"entrants": [*contest["entrants"], *fresh]}, by)
        if back:
            self.storage.contests.change(
                contest, ("scheduled", "running", "paused"), {"$pull": {"withdrawn": {"$in": back}}}
            )
            self._note(contest, by, "enter again", {"bots": back})
        self.ask_pairing(game, name)
        return self.contest(game, name)

    def withdraw(self, game: str, name: str, bot: str, by: str) -> dict[str, Any]:
        """Takes a bot out: what it plays now is void, what it has yet to play is not due. Played games stand."""
        contest = self.contest(game, name)
        known = contest["entrants"] if contest["entrants"] != "open" else self._who_entered(game, name)
        if bot not in known:
            raise Refused(f"The bot {bot!r} is no entrant of {name!r}.", field="bot")
        found = self.storage.contests.change(
            contest, ("scheduled", "running", "paused"), {"$addToSet": {"withdrawn": bot}}
        )
        if found is None:
            raise WrongState(f"The contest {name!r} is {contest['state']}.", state=contest["state"])
        if bot not in contest["withdrawn"]:
            self._note(found, by, "withdraw", {"bot": bot})
        self._void_live(found, f"{bot} was withdrawn", lambda match: match.seat_of(bot) is not None)
        self.ask_pairing(game, name)
        return found

    def void(self, game: str, name: str, match_id: str, reason: str, by: str) -> None:
        """Takes a match back, played or being played: its meeting is played again, the standings follow.

        Raises UnknownMatch if the contest has no such match, or it is void already.
        """
        contest = self.contest(game, name)
        try:
            match = self.conductor.store.load(match_id)
        except UnknownMatch:
            match = None
        live = match is not None and match.verdict is None and (match.game, match.contest) == (game, name)
        if live and match is not None:
            self.conductor.conduct(match, Voided(reason))
            self._note(contest, by, "void", {"match": match_id, "reason": reason})
        elif self.storage.ledger.void(game, name, match_id, reason, by):
            log.info("match.voided", match=match_id, game=game, contest=name, by=by)
            self.ask_rating(game)
            self._reopen(contest, by)
            self.bus.publish(keys.contest_events(game, name), b"void")
        else:
            raise UnknownMatch(f"The contest {name!r} has no match {match_id!r} that counts.", field="match")
        self.ask_pairing(game, name)

    def tick(self) -> None:
        """Starts and ends contests at their time; also those whose moment passed while nothing ran."""
        now = datetime.now(UTC)
        for contest in self.storage.contests.due(now):
            if contest["endsAt"] is not None and contest["endsAt"] <= now:
                self._transition("finish", contest, CLOCK) or self._transition("cancel", contest, CLOCK)
            else:
                self._transition("start", contest, CLOCK)

    def finish_by_itself(self, contest: Mapping[str, Any]) -> None:
        """Nothing is left to play."""
        self._transition("finish", contest, ITSELF)

    def contest(self, game: str, name: str) -> dict[str, Any]:
        """The contest's document. Raises UnknownContest."""
        found = self.storage.contests.find(game, name)
        if found is None:
            raise UnknownContest(f"There is no contest {name!r} of {game}.")
        return found

    def _transition(self, action: str, contest: Mapping[str, Any], by: str) -> dict[str, Any] | None:
        states, after, moment = TRANSITIONS[action]
        update: dict[str, Any] = {"state": after}
        if moment is not None:
            update[moment] = datetime.now(UTC)
        found = self.storage.contests.change(contest, states, {"$set": update})
        if found is None:
            return None
        self._note(found, by, action, {})
        if action == "cancel":
            self._void_live(found, "the contest was cancelled", lambda match: True)
        if after == "running":
            self.ask_pairing(found["game"], found["name"])
        return found

    def _reopen(self, contest: Mapping[str, Any], by: str) -> None:
        over = contest["endsAt"] is not None and contest["endsAt"] <= datetime.now(UTC)
        if contest["state"] == "finished" and not over:
            self._transition("reopen", contest, by)

    def _void_live(self, contest: Mapping[str, Any], why: str, which: Callable[[Match], bool]) -> None:
        store = self.conductor.store
        for match in store.load_many(store.live_ids()).values():
            if (match.game, match.contest) == (contest["game"], contest["name"]) and which(match):
                self.conductor.conduct(match, Voided(why))

    def _check(self, game: str, contest: Mapping[str, Any]) -> None:
        kind = format_named(contest.get("format", "open"))
        entrants = contest.get("entrants", "open")
        if kind.CLOSED and entrants == "open":
            raise Refused(f"The format {kind.NAME} needs a list of entrants.", field="entrants")
        listed = [] if entrants == "open" else list(entrants)
        if len(set(listed)) != len(listed):
            raise Refused("An entrant is listed twice.", field="entrants")
        self._check_bots(game, listed)
        kind.checked_config(contest.get("config", {}), listed, contest["meetings"])
        self.registry[game].options_with_defaults(contest.get("options", {}))
        starts, ends = contest.get("startsAt"), contest.get("endsAt")
        if starts is not None and ends is not None and ends <= starts:
            raise Refused("endsAt must be later than startsAt.", field="endsAt")

    def _check_bots(self, game: str, bots: Sequence[str]) -> None:
        known = self.storage.bots.known(game, bots)
        unknown = [bot for bot in bots if bot not in known]
        if unknown:
            raise Refused(f"Not registered for {game}: {', '.join(map(repr, unknown[:10]))}.", field="entrants")

    def _who_entered(self, game: str, name: str) -> set[str]:
        return {row["bot_id"] for row in self.storage.standings.of_contest(game, name)}

    def _note(self, contest: Mapping[str, Any], by: str, action: str, details: dict[str, Any]) -> None:
        self.storage.audit.add(contest["game"], contest["name"], by, action, details)
        log.info("contest.changed", action=action, game=contest["game"], contest=contest["name"], by=by)
        self.bus.publish(keys.contest_events(contest["game"], contest["name"]), action.encode())
