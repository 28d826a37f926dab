"""Closes the meetings of bots that have been missing for too long, as `absent`. Runs in the sweep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import structlog

from battlebot.arena.live.ids import new_match_id
from battlebot.arena.live.queue import Ticket
from battlebot.arena.live.seats import seatings
from battlebot.arena.places import is_stateless
from battlebot.contests.contest import Contest
from battlebot.contests.formats.situation import Due
from battlebot.contests.installed import format_of
from battlebot.contests.service.chances import Chances
from battlebot.contests.service.organiser import Organiser
from battlebot.contests.service.pairer import Pairer
from battlebot.redisio import keys
from battlebot.runtime import sharedtime
from battlebot.storage.meetings import Meeting

log = structlog.get_logger()

STAYS_S = 2.0  # a bot that waits is paired in much less if the others are there


@dataclass
class Absences:
    """Tracks in Redis how long each entrant with a due meeting has been missing, and closes meetings accordingly.

    Time counts only while the contest runs, the bot could have come in (`chances`) and somebody looks, at most `most_s`
    seconds from one look to the next, so that no bot is charged for a server that was down. It restarts when the
    contest is resumed or reopened, and when the bot is back: when a match of its begins, or it has waited for
    `STAYS_S`. A bot that comes and goes, too fast to be paired, would hold up the others for ever; a stateless one
    comes and goes as the server has it wait. The notes, the matches and the queues are those of the `pairer`.
    """

    pairer: Pairer
    organiser: Organiser
    chances: Chances
    most_s: float = 5.0
    now_s: Callable[[], float] = sharedtime.now_s

    def look_at(self, contest: Contest) -> int:
        """Closes the overdue meetings of a running contest with a closed format; returns how many.

        Finishes the contest if nothing is left to play. Raises Unavailable.
        """
        form = format_of(contest)
        if not form.CLOSED or contest.game not in self.pairer.registry:
            # bots of a game that was removed are not let in
            return 0
        situation = self.pairer.situation(contest, [])
        if form.complete(situation):
            self.organiser.finish_by_itself(contest)
            return 0
        due = form.due(situation)
        tickets, playing, places = self._present(contest)
        waiting = {ticket.bot for ticket in tickets} - playing
        missing = {bot for row in due for bot in row.bots} - waiting - playing
        now_s = self.now_s()
        just_come = waiting - {ticket.bot for ticket in tickets if _stays(ticket, now_s)}
        runs_since = contest.runs_since or contest.started_at
        chances = self.chances.of(missing, keys.queue_name(*contest.where), places, runs_since, now_s)
        waits = self.pairer.missing.note(*contest.where, contest.run, chances, now_s, self.most_s, just_come)
        gone = {bot for bot, wait in waits.items() if wait.seconds >= contest.absent_after_s}
        closed, busy = 0, set(playing)
        for row in due:
            bots = set(row.bots)
            if bots & busy or (form.TOGETHER and len(bots - gone) > 1):
                # the others play without the bots that are gone: the pairing leaves those out
                continue
            if bots & gone and bots <= gone | waiting:
                busy |= bots
                closed += self._close(contest, row, bots - gone)
        return closed

    def _close(self, contest: Contest, row: Due, there: set[str]) -> bool:
        victor = next(iter(there), None)
        meeting = Meeting(new_match_id(self.now_s()), row.bots, row.n, row.round, format_of(contest).TOGETHER)
        if not self.organiser.storage.ledger.absent(contest, meeting, victor):
            return False
        log.info("meeting.absent", contest=contest.name, bots=list(row.bots), n=row.n, there=victor)
        self.organiser.bus.publish(keys.contest_events(*contest.where), b"absent")
        return True

    def _present(self, contest: Contest) -> tuple[list[Ticket], set[str], list[tuple[str, str]]]:
        """The tickets of those who wait in the contest, who plays in it, and the (bot, place) of all of them."""
        # in this order nobody is missed who goes from the queue to a match: its meeting is reserved first
        tickets = self.pairer.queues.tickets(keys.queue_name(*contest.where))
        found = seatings(self.pairer.store, self.organiser.storage.meetings.open_ids(*contest.where))
        live = [match for match in found.values() if not match.is_over]
        places = [(ticket.bot, ticket.place) for ticket in tickets]
        places += [place for match in live for place in match.places]
        playing = {seat.bot for match in live for seat in match.seats}
        return tickets, playing, places


def _stays(ticket: Ticket, now_s: float) -> bool:
    # one from the future is of a node whose clock is wrong
    return is_stateless(ticket.place) or abs(now_s - ticket.since_s) >= STAYS_S
