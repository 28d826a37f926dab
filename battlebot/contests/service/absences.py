"""Closes the meetings of bots that have been missing for too long, as `absent`. Runs in the sweep."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import structlog

from battlebot.arena.live.cutoff import CutOff
from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.ids import new_match_id
from battlebot.arena.live.queue import Queues
from battlebot.arena.live.seats import seatings
from battlebot.arena.live.store import MatchStore
from battlebot.arena.places import STATELESS, WEB
from battlebot.contests.contest import Contest
from battlebot.contests.formats.situation import Due
from battlebot.contests.kind import kind_of
from battlebot.contests.service.organiser import Organiser
from battlebot.contests.service.pairer import Pairer
from battlebot.matchmaking.missing import Chance, Missing, Wait
from battlebot.redisio import keys

log = structlog.get_logger()


@dataclass
class Absences:
    """Tracks in Redis how long each entrant with a due meeting has been missing, and closes meetings accordingly.

    Time counts only while the contest runs, bots can come in and somebody looks, at most `most_s` seconds from one look
    to the next, so that no bot is charged for a server that was down: its door was shut, or, of a stateless bot, nobody
    took attendance. After an outage bots have `grace_s` to come back before it goes on. Nor is a bot charged while it
    is cut off at a node that was taken for dead, or held back because its node may be dead, or, if it is stateless,
    while its address is asked in `bot_matches` matches. It restarts when the contest is resumed or reopened.
    """

    store: MatchStore
    queues: Queues
    missing: Missing
    pairer: Pairer
    organiser: Organiser
    heartbeats: Heartbeats
    cut_off: CutOff
    grace_s: float
    bot_matches: int
    most_s: float = 5.0
    now_s: Callable[[], float] = time.time

    def look_at(self, contest: Contest) -> int:
        """Closes the overdue meetings of a running contest with a closed format; returns how many.

        Finishes the contest if nothing is left to play. Raises Unavailable.
        """
        kind = kind_of(contest)
        if not kind.CLOSED or contest.game not in self.pairer.registry:
            # bots of a game that was removed are not let in
            return 0
        situation = self.pairer.situation(contest, [])
        if kind.complete(situation):
            self.organiser.finish_by_itself(contest)
            return 0
        due = kind.due(situation)
        waiting, playing, cut = self._present(contest)
        missing = {bot for row in due for bot in row.bots} - waiting - playing
        waits = self._noted(contest, missing, cut)
        gone = {bot for bot, wait in waits.items() if wait.seconds >= contest.absent_after_s}
        closed, busy = 0, set(playing)
        for row in due:
            bots = set(row.bots)
            if bots & busy or (kind.TOGETHER and len(bots - gone) > 1):
                # the others play without the bots that are gone: the pairing leaves those out
                continue
            if bots & gone and bots <= gone | waiting:
                busy |= bots
                closed += self._close(contest, row, bots - gone)
        return closed

    def _noted(self, contest: Contest, missing: set[str], cut: Mapping[str, tuple[float, float]]) -> dict[str, Wait]:
        now_s = self.now_s()
        addresses = self.organiser.storage.bots.asked(sorted(missing))
        busy = self.store.addresses.busy(addresses.values())
        # bots of contests come in at the WebSocket door; stateless ones are brought in
        web, asked = self._chance(WEB, now_s), self._chance(STATELESS, now_s)
        full = asked._replace(shut=(*asked.shut, (0.0, now_s)))
        chances = dict[str, Chance]()
        for bot in missing:
            if bot in addresses:
                chances[bot] = full if busy[addresses[bot]] >= self.bot_matches else asked
            else:
                chances[bot] = web._replace(shut=(*web.shut, cut[bot])) if bot in cut else web
        return self.missing.note(*contest.where, contest.run, chances, now_s, self.most_s)

    def _chance(self, door: str, now_s: float) -> Chance:
        shown = self.heartbeats.shown(door, now_s)
        open_s = shown.open_s
        shut = [(outage.since_s, outage.until_s + self.grace_s) for outage in shown.outages]
        if open_s is None:
            shut.append((0.0, now_s))
        # whether bots could come in since then is known when there is another heartbeat
        return Chance(now_s if open_s is None else min(now_s, open_s), tuple(shut))

    def _close(self, contest: Contest, row: Due, there: set[str]) -> bool:
        victor = next(iter(there), None)
        meeting = {
            "match": new_match_id(self.now_s()),
            "bots": list(row.bots),
            "n": row.n,
            "round": row.round,
            "together": kind_of(contest).TOGETHER,
        }
        if not self.organiser.storage.ledger.absent(contest, meeting, victor):
            return False
        log.info("meeting.absent", contest=contest.name, bots=meeting["bots"], n=row.n, there=victor)
        self.organiser.bus.publish(keys.contest_events(*contest.where), b"absent")
        return True

    def _present(self, contest: Contest) -> tuple[set[str], set[str], dict[str, tuple[float, float]]]:
        """Who waits in the contest, who plays in it, and when others were cut off (bot -> from, until).

        A bot that waits and plays counts as playing.
        """
        queue = keys.queue_name(*contest.where)
        # in this order nobody is missed who goes from the queue to a match: its meeting is reserved first
        tickets = self.queues.tickets(queue)
        found = seatings(self.store, self.organiser.storage.meetings.open_ids(*contest.where))
        live = [match for match in found.values() if not match.is_over]
        places = [(ticket.bot, ticket.place) for ticket in tickets]
        places += [place for match in live for place in match.places]
        cut = self.cut_off.times(queue, places, self.now_s(), self.grace_s)
        playing = {seat.bot for match in live for seat in match.seats}
        return {ticket.bot for ticket in tickets} - playing, playing, cut
