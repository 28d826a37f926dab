"""An organiser's actions on contests: scheduling, starting, pausing, ending, entrants, taking matches back.

Every change is decided in `changes` and made in one transaction with its audit entries and the meetings that it takes
back. Then events are published and matches stopped in Redis; the sweep stops those that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from battlebot.arena.live.conduct import Conductor
from battlebot.arena.live.mail import over, reopened
from battlebot.contests.cap import cap_of
from battlebot.contests.contest import Contest
from battlebot.contests.installed import format_of
from battlebot.contests.service import changes as decided
from battlebot.contests.service.requirements import Requirements, check_can_run, check_format
from battlebot.contests.situating import met_of, situation_of
from battlebot.errors import (
    AlreadyVoid,
    FormatMissing,
    TooLate,
    Unavailable,
    UnknownContest,
    UnknownGame,
    UnknownMatch,
    UnreadableMatch,
)
from battlebot.redisio import keys
from battlebot.redisio.bus import Bus
from battlebot.referee.events import Voided
from battlebot.runtime import sharedtime
from battlebot.runtime.loglimit import LogLimit
from battlebot.storage import Storage
from battlebot.storage.audit import Note
from battlebot.storage.contests import Change, Changed, Decide
from battlebot.storage.ledger import Row
from battlebot.storage.voids import VoidCause

log = structlog.get_logger()

ENDS = ("finish", "cancel")
ITSELF = "contest"  # in the audit: who finishes a contest in which nothing is left to play
MAY_BEGIN_S = 30.0  # after it is taken back; by then a reserved match has begun or never will

may_tell = LogLimit()


@dataclass
class Organiser:
    """`ask_pairing(game, contest)` and `ask_rating(game)` enqueue tasks; they do not raise.

    Every method raises Unavailable when a store does not answer, UnknownContest if the contest does not exist, and
    FormatMissing if it needs the contest's format and that is not installed.
    """

    storage: Storage
    conductor: Conductor
    bus: Bus
    ask_pairing: Callable[[str, str], None]
    ask_rating: Callable[[str], None]

    @property
    def _requirements(self) -> Requirements:
        return Requirements(self.conductor.registry, self.storage)

    def create(self, game: str, given: Mapping[str, Any], by: str) -> Contest:
        """Schedules a contest from checked fields; without `startsAt` it waits for `start`.

        Raises NameTaken; Refused or BadMessage with the field that is not acceptable.
        """
        check_format(given)
        contest = Contest(
            game=game,
            name=given["name"],
            title=given["name"],
            state="scheduled",
            meetings=given["meetings"],
            opened_by=by,
            created_at=sharedtime.now(),
        ).with_fields(given)
        self._requirements.of_contest(contest)
        note = Note(by, "create", {"format": contest.format, "meetings": cap_of(contest)})
        self.storage.contests.create(contest, [note])
        self._carry_out(Changed(contest, [note]))
        return contest

    def change(self, game: str, name: str, changes: Mapping[str, Any], by: str) -> Contest:
        """Changes these fields. Raises WrongState for those that may no longer change; Refused as `create` does."""
        check_format(changes)

        def decide(contest: Contest) -> Change:
            change = decided.changed(contest, changes, by)
            self._requirements.of_contest(change.contest)
            return change

        return self._change(game, name, decide).contest

    def transition(self, action: str, game: str, name: str, by: str) -> Contest:
        """`action`: start, pause, resume, finish or cancel.

        Raises WrongState if the state does not allow it.
        """

        def decide(contest: Contest) -> Change:
            change = decided.moved(contest, action, by, sharedtime.now())
            check_can_run(change.contest)
            return change

        return self._change(game, name, decide).contest

    def enter(self, game: str, name: str, bots: Sequence[str], by: str) -> Contest:
        """Adds entrants to a contest with a list before its start, or brings withdrawn bots back before its end.

        Enters all of them or, if it raises, none. Raises WrongState, Refused for a bot that is not registered.
        """

        def decide(contest: Contest) -> Change | None:
            self._requirements.of_bots(game, bots)
            change = decided.entered(contest, bots, self.storage.standings.came(contest), by)
            if change is not None and change.contest.entrants != contest.entrants:
                self._requirements.of_contest(change.contest)
            return change

        return self._change(game, name, decide).contest

    def withdraw(self, game: str, name: str, bot: str, by: str) -> Contest:
        """Withdraws a bot: its live matches are void, its remaining meetings no longer due; its played matches stand.

        Raises WrongState, Refused for a bot that is not in the contest or without which the others cannot begin.
        """

        def decide(contest: Contest) -> Change | None:
            change = decided.withdrawn(contest, bot, self.storage.standings.came(contest), by)
            if change is not None:
                self._requirements.of_those_who_stay(change.contest)
            return change

        return self._change(game, name, decide).contest

    def void(self, game: str, name: str, match_id: str, reason: str, by: str) -> Contest:
        """Takes back a match, played or live: its meeting is played again and the standings are corrected.

        Raises UnknownMatch if the contest has no such match, AlreadyVoid; TooLate if the format has built on its
        result, so that it would not be played again.
        """
        why = VoidCause(by, reason)

        def decide(contest: Contest, meeting: Row | None, among: Sequence[Row]) -> Change:
            if meeting is not None:
                _check_not_built_upon(contest, meeting, among, match_id)
            return decided.taken_back(contest, match_id, why, sharedtime.now())

        done = self.storage.ledger.void(game, name, match_id, why, decide)
        if done is None:
            self.contest(game, name)
            if self.storage.ledger.is_void(game, name, match_id):
                raise AlreadyVoid(f"The match {match_id!r} is void already.", match=match_id)
            raise UnknownMatch(f"The contest {name!r} has no match {match_id!r} that counts.", field="match")
        if done.stored:
            self.ask_rating(game)
        self._carry_out(done.changed)
        self.ask_pairing(game, name)
        return done.changed.contest

    def tick(self) -> None:
        """Starts and ends contests whose time has come, even if it came while the server was down.

        One whose format is missing is started once the format is back.
        """

        def decide(contest: Contest) -> Change | None:
            change = decided.on_time(contest, sharedtime.now())
            if change is not None:
                check_can_run(change.contest)
            return change

        for contest in self.storage.contests.due(sharedtime.now()):
            game, name = contest.where
            try:
                self._change(game, name, decide)
            except Unavailable:
                raise
            except Exception as error:
                # a problem with one contest must not delay the others
                if may_tell(("time", game, name)):
                    unforeseen = not isinstance(error, FormatMissing)
                    log.error("contest.not_on_time", game=game, contest=name, error=str(error), exc_info=unforeseen)

    def finish_by_itself(self, contest: Contest) -> None:
        """Finishes a contest with nothing left to play; does nothing if it has changed since `contest` was read."""

        def decide(now: Contest) -> Change | None:
            as_it_was = (now.revision, now.state) == (contest.revision, "running")
            return decided.moved(now, "finish", ITSELF, sharedtime.now()) if as_it_was else None

        self._change(*contest.where, decide)

    def stop_void(self) -> None:
        """Stops matches that were taken back but are still live; for the sweep."""
        stopped = []
        for row in self.storage.voids.playing():
            may_begin = (sharedtime.now() - row["at"]).total_seconds() < MAY_BEGIN_S
            try:
                if self._stop(row["_id"], row["reason"]) or not may_begin:
                    stopped.append(row["_id"])
            except Unavailable:
                raise
            except Exception:
                if may_tell(("stop", row["_id"])):
                    log.exception("match.not_stopped", match=row["_id"])
        if stopped:
            self.storage.voids.stopped(stopped)

    def contest(self, game: str, name: str) -> Contest:
        """The contest. Raises UnknownContest."""
        found = self.storage.contests.find(game, name)
        if found is None:
            raise UnknownContest(f"There is no contest {name!r} of {game}.")
        return found

    def _change(self, game: str, name: str, decide: Decide) -> Changed:
        done = self.storage.contests.change(game, name, decide)
        if done is None:
            raise UnknownContest(f"There is no contest {name!r} of {game}.")
        if done.notes:
            self._carry_out(done)
            if done.contest.state == "running":
                self.ask_pairing(game, name)
        return done

    def _carry_out(self, done: Changed) -> None:
        """Publishes a change and stops the matches that it takes back; what cannot be done now, the sweep does."""
        try:
            self._tell(done)
            for match_id, why in done.stopped.items():
                self._stop(match_id, why)
        except (Unavailable, UnreadableMatch, UnknownGame) as error:
            log.warning("contest.told_late", contest=done.contest.name, error=str(error))

    def _stop(self, match_id: str, why: str) -> bool:
        """Ends a match that was taken back; False if it has not begun or does not exist.

        Raises UnreadableMatch and UnknownGame until the sweep of matches has set it aside.
        """
        try:
            match = self.conductor.store.load(match_id)
            if match.verdict is None:
                self.conductor.conduct(match, Voided(why))
        except UnknownMatch:
            return False
        return True

    def _tell(self, done: Changed) -> None:
        contest = done.contest
        for note in done.notes:
            log.info("contest.changed", action=note.action, game=contest.game, contest=contest.name, by=note.by)
            self.bus.publish(keys.contest_events(*contest.where), note.action.encode())
        actions = {note.action for note in done.notes}
        how = contest.over(sharedtime.now())
        if how is not None and not actions.isdisjoint(ENDS):
            self._post(over(*contest.where, how))
        elif "reopen" in actions:
            self._post(reopened(*contest.where))

    def _post(self, letter: bytes) -> None:
        for node in self.conductor.heartbeats.all():
            self.conductor.store.post(node, letter)


def _check_not_built_upon(contest: Contest, meeting: Row, among: Sequence[Row], match_id: str) -> None:
    situation = situation_of(contest, among, meeting["bots"])
    if format_of(contest).built_upon(situation, met_of(meeting)):
        raise TooLate(
            "The next round of its bots has begun: the match would not be played again, so it stands.",
            match=match_id,
            round=meeting["round"],
        )
