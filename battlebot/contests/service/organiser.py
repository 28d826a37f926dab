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
from battlebot.contests.service.pairer import met_of, situation_of
from battlebot.errors import Refused, TooLate, Unavailable, UnknownContest, UnknownMatch, WrongState
from battlebot.referee.events import Voided
from battlebot.referee.match import Match
from battlebot.rules.contract import Game
from battlebot.storage import Storage
from battlebot.storage.audit import Note

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
OPEN_STATES = ("scheduled", "running", "paused")
ATTEMPTS = 20  # to change a contest that others change meanwhile
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
        what = {"format": contest.get("format", "open"), "meetings": contest["meetings"]}
        document = self.storage.contests.create(contest, Note(by, "create", what))
        self._tell(document, by, "create")
        return document

    def change(self, game: str, name: str, changes: Mapping[str, Any], by: str) -> dict[str, Any]:
        """Changes what may still change. Raises WrongState for what may not, Refused as `create`."""
        late = sorted(set(changes) & CHANGEABLE_BEFORE_THE_START)
        states = ("scheduled",) if late else OPEN_STATES
        for _ in range(ATTEMPTS):
            contest = self.contest(game, name)
            if contest["state"] not in states:
                what = f"{', '.join(late)} may change only before the start" if late else "nothing may change any more"
                raise WrongState(f"The contest {name!r} is {contest['state']}: {what}.", state=contest["state"])
            self._check(game, {**contest, **changes})
            note = Note(by, "change", changes)
            # what was checked must be what is changed
            found = self.storage.contests.change(contest, states, {"$set": changes}, note, unchanged=True)
            if found is not None:
                self._tell(found, by, "change")
                return found
        raise Unavailable(f"The contest {name!r} is being changed by others all the time.")

    def transition(self, action: str, game: str, name: str, by: str) -> dict[str, Any]:
        """start, pause, resume, finish or cancel. Raises WrongState if the contest's state does not allow it."""
        contest = self.contest(game, name)
        found = self._transition(action, contest, by)
        if found is None:
            raise WrongState(f"One cannot {action} a contest that is {contest['state']}.", state=contest["state"])
        return found

    def enter(self, game: str, name: str, bots: Sequence[str], by: str) -> dict[str, Any]:
        """Adds entrants to a closed contest that has not started; a withdrawn bot comes back at any time.

        All of them or, where this raises, none. Raises WrongState, Refused for a bot that is not registered.
        """
        for _ in range(ATTEMPTS):
            contest = self.contest(game, name)
            update = self._entering(contest, bots)
            if not update:
                return contest
            states = ("scheduled",) if "$push" in update else OPEN_STATES
            if contest["state"] not in states:
                what = "takes new bots only before its start" if "$push" in update else "is over"
                raise WrongState(f"The contest {name!r} is {contest['state']}: it {what}.", state=contest["state"])
            note = Note(by, "enter", {"bots": list(bots)})
            found = self.storage.contests.change(contest, states, update, note, unchanged=True)
            if found is not None:
                self._tell(found, by, "enter")
                self.ask_pairing(game, name)
                return found
        raise Unavailable(f"The contest {name!r} is being changed by others all the time.")

    def withdraw(self, game: str, name: str, bot: str, by: str) -> dict[str, Any]:
        """Takes a bot out: what it plays now is void, what it has yet to play is not due. Played games stand."""
        contest = self.contest(game, name)
        known = contest["entrants"] if contest["entrants"] != "open" else self._who_entered(game, name)
        if bot not in known:
            raise Refused(f"The bot {bot!r} is no entrant of {name!r}.", field="bot")
        note = None if bot in contest["withdrawn"] else Note(by, "withdraw", {"bot": bot})
        found = self.storage.contests.change(contest, OPEN_STATES, {"$addToSet": {"withdrawn": bot}}, note)
        if found is None:
            raise WrongState(f"The contest {name!r} is {contest['state']}.", state=contest["state"])
        self._tell(found, by, "withdraw")
        self._void_live(found, f"{bot} was withdrawn", lambda match: match.seat_of(bot) is not None)
        self.ask_pairing(game, name)
        return found

    def void(self, game: str, name: str, match_id: str, reason: str, by: str) -> None:
        """Takes a match back, played or being played: its meeting is played again, the standings follow.

        Raises UnknownMatch if the contest has no such match, or it is void already; TooLate where the format has built
        on its result, so that it would not be played again.
        """
        contest = self.contest(game, name)
        try:
            match = self.conductor.store.load(match_id)
        except UnknownMatch:
            match = None
        live = match is not None and match.verdict is None and (match.game, match.contest) == (game, name)
        if live and match is not None:
            self.conductor.conduct(match, Voided(reason))
            self.storage.audit.add(game, name, by, "void", {"match": match_id, "reason": reason})
            self._tell(contest, by, "void")
        else:
            self._check_not_built_upon(contest, match_id)
            if not self.storage.ledger.void(game, name, match_id, reason, by):
                raise UnknownMatch(f"The contest {name!r} has no match {match_id!r} that counts.", field="match")
            self._tell(contest, by, "void")
            self.ask_rating(game)
            # it may have been finished meanwhile
            self._reopen(self.contest(game, name), by)
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
        """Nothing was left to play when `contest` was read; nothing happens if it has changed since."""
        self._transition("finish", contest, ITSELF, unchanged=True)

    def contest(self, game: str, name: str) -> dict[str, Any]:
        """The contest's document. Raises UnknownContest."""
        found = self.storage.contests.find(game, name)
        if found is None:
            raise UnknownContest(f"There is no contest {name!r} of {game}.")
        return found

    def _transition(
        self, action: str, contest: Mapping[str, Any], by: str, unchanged: bool = False
    ) -> dict[str, Any] | None:
        states, after, moment = TRANSITIONS[action]
        update: dict[str, Any] = {"state": after}
        if moment is not None:
            update[moment] = datetime.now(UTC)
        found = self.storage.contests.change(contest, states, {"$set": update}, Note(by, action), unchanged)
        if found is None:
            return None
        self._tell(found, by, action)
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

    def _entering(self, contest: Mapping[str, Any], bots: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The update that lets the bots into the contest; empty where all of them are in it."""
        self._check_bots(contest["game"], bots)
        if contest["entrants"] == "open":
            raise WrongState("An open contest takes whoever comes; it has no list of entrants.")
        update: dict[str, dict[str, Any]] = {}
        if fresh := [bot for bot in dict.fromkeys(bots) if bot not in contest["entrants"]]:
            self._check(contest["game"], {**contest, "entrants": [*contest["entrants"], *fresh]})
            update["$push"] = {"entrants": {"$each": fresh}}
        if back := [bot for bot in bots if bot in contest["withdrawn"]]:
            # what it had left is due again, in rounds that were over without it
            update |= {"$pull": {"withdrawn": {"$in": back}}, "$set": {"settled": 0}}
        return update

    def _check_not_built_upon(self, contest: Mapping[str, Any], match_id: str) -> None:
        kind = format_named(contest["format"])
        if not hasattr(kind, "built_upon"):
            return
        rows = self.storage.meetings.of_contest(contest["game"], contest["name"])
        row = next((row for row in rows if row["_id"] == match_id), None)
        if row is not None and kind.built_upon(situation_of(contest, rows, ()), met_of(row)):
            raise TooLate(
                "The next round of its bots has begun: the match would not be played again, so it stands.",
                match=match_id,
                round=row["round"],
            )

    def _check_bots(self, game: str, bots: Sequence[str]) -> None:
        known = self.storage.bots.known(game, bots)
        unknown = [bot for bot in bots if bot not in known]
        if unknown:
            raise Refused(f"Not registered for {game}: {', '.join(map(repr, unknown[:10]))}.", field="entrants")

    def _who_entered(self, game: str, name: str) -> set[str]:
        return {row["bot_id"] for row in self.storage.standings.of_contest(game, name)}

    def _tell(self, contest: Mapping[str, Any], by: str, action: str) -> None:
        log.info("contest.changed", action=action, game=contest["game"], contest=contest["name"], by=by)
        self.bus.publish(keys.contest_events(contest["game"], contest["name"]), action.encode())
