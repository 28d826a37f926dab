"""Pairs the bots that wait in a contest, by its format. Runs in a worker."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import msgspec
import structlog

from battlebot.arena.live.calls import Beginning
from battlebot.arena.live.conduct import asked_of
from battlebot.arena.live.ids import new_match_id
from battlebot.arena.live.making import beginning, new_match
from battlebot.arena.live.queue import Queues
from battlebot.arena.live.store import MatchStore
from battlebot.config import Settings
from battlebot.contests.contest import Contest
from battlebot.contests.formats.record import Pairing, Waiter
from battlebot.contests.formats.situation import Situation
from battlebot.contests.installed import format_of
from battlebot.contests.service.acquaintance import acquaintance
from battlebot.contests.service.present import Present
from battlebot.contests.service.resting import resting
from battlebot.contests.situating import situation_of
from battlebot.matchmaking.missing import Missing
from battlebot.redisio import keys
from battlebot.referee.match import Match
from battlebot.rules.contract import RAISED, Game
from battlebot.runtime import sharedtime
from battlebot.runtime.timelimit import time_limit
from battlebot.storage import Storage
from battlebot.storage.meetings import Meeting

log = structlog.get_logger()

AT_ONCE = 250  # meetings reserved, and their matches begun, per batch
WORTH_FORGETTING = 1000  # meetings read; fewer are cheap enough to be read again at the next pairing
IN_VAIN_S = 10.0  # how long an open contest's waiting bots are not looked at again if no two of them may meet
MOST_IN_VAIN = 1000
BEGIN_WITHIN_MS = 10_000  # of reserving; later the meeting may already have been released
MAKE_WITHIN_S = 5.0  # a first state; after half of that no other of the batch is made: they must begin in time
ATTEMPTS = 5  # to pair while the contest is being changed; then the sweep asks again


@dataclass
class Pairer:
    """Used by one caller at a time per contest, but nothing breaks if two pair at once.

    `ask_bots(match_id)` has a match's stateless bots asked; it does not raise. `paused(bots)`: which of these are not
    asked for a while, because their addresses failed.
    """

    registry: Mapping[str, Game]
    settings: Settings
    storage: Storage
    store: MatchStore
    queues: Queues
    missing: Missing
    ask_bots: Callable[[str], None]
    paused: Callable[[Collection[str]], Collection[str]]
    now_s: Callable[[], float] = sharedtime.now_s
    make_within_s: float = MAKE_WITHIN_S
    _in_vain: dict[str, tuple[float, object]] = field(default_factory=dict, init=False)

    def pair(self, game_name: str, contest_name: str) -> int:
        """Begins matches for waiting bots that may meet; returns how many began.

        Raises Unavailable; UnknownGame, BadMessage or FormatMissing for a contest whose game, an option of it, or
        format is not there any more.
        """
        begun = 0
        for _ in range(ATTEMPTS):
            done, changed = self._pair(game_name, contest_name)
            begun += done
            if not changed:
                break
        return begun

    def _pair(self, game_name: str, contest_name: str) -> tuple[int, bool]:
        """Returns how many matches began, and whether the contest changed meanwhile, so that it must pair again."""
        queue = keys.queue_name(game_name, contest_name)
        tickets = {ticket.text: ticket for ticket in self.queues.offered(queue)}
        if len(tickets) < 2:
            return 0, False
        contest = self.storage.contests.find(game_name, contest_name)
        if contest is None or contest.state != "running":
            return 0, False
        # the game, or an option of it, may be gone since: what is reserved then never begins, and becomes void
        with time_limit(self.make_within_s):
            self.registry[contest.game].options_with_defaults(contest.options)
        form = format_of(contest)
        sight = (contest.created_at, contest.revision, frozenset(tickets))
        if not form.CLOSED and self._was_in_vain(queue, sight):
            return 0, False
        # bots may have come before the contest had its list
        members = set(contest.bots([ticket.bot for ticket in tickets.values()])).difference(contest.withdrawn)
        waiting = [Waiter(ticket.bot, text) for text, ticket in tickets.items() if ticket.bot in members]
        situation = self.situation(contest, sorted({waiter.bot for waiter in waiting}))
        if form.TOGETHER:
            situation = replace(situation, gone=self._gone(contest, {waiter.bot for waiter in waiting}))
        now = datetime.fromtimestamp(self.now_s(), UTC)
        situation = replace(situation, resting=frozenset(resting(self.storage, *contest.where, now)))
        there = Present.of(tickets, self.storage, self.store, self.settings.bot_matches)
        # whoever cannot play now must not keep others from playing one another
        able = [waiter for waiter in waiting if there.may_play(waiter)]
        pairings = form.pair(situation, able)
        pairings = [one for one in pairings if 1 <= one.n <= situation.meetings and there.take(one)]
        if not (pairings or form.CLOSED or situation.resting or len(able) < len(waiting)):
            self._note_in_vain(queue, sight)
        return self._begin(contest, queue, there, pairings)

    def situation(self, contest: Contest, waiting: Sequence[str]) -> Situation:
        """The contest as its format needs it for pairing: for an open one, only what concerns the waiting bots.

        For a format that defines `settled`, without what is over in the settled rounds. Raises Unavailable.
        """
        where, form = contest.where, format_of(contest)
        if not form.CLOSED:
            known = acquaintance(self.storage.meetings, *where, waiting)
            # void ones are read last: a meeting taken back meanwhile must not be missing from both
            voids = self.storage.voids.of_contest(*where, known.strangers) if known.strangers else ()
            return replace(situation_of(contest, known.met, waiting, voids), leads=known.leads)
        before = contest.settled
        rows = self.storage.meetings.unsettled(*where, before)
        situation = situation_of(contest, rows, waiting, self.storage.voids.of_contest(*where), before)
        if len(rows) >= WORTH_FORGETTING and (now := form.settled(situation)) > before:
            self.storage.contests.settle(contest, now)
        return situation

    def _gone(self, contest: Contest, waiting: Collection[str]) -> frozenset[str]:
        """The bots that are not waiting and are paused or have been missing for `absentAfterS` seconds.

        Empty if the game does not let the others begin without them.
        """
        noted = self.missing.noted(*contest.where, contest.run)
        late = [bot for bot, wait in noted.items() if wait.seconds >= contest.absent_after_s]
        away = frozenset(contest.listed).difference(contest.withdrawn, waiting)
        gone = away.intersection(late).union(self.paused(away))
        there = [bot for bot in contest.listed if bot not in gone.union(contest.withdrawn)]
        return frozenset() if self._objects(contest, there) else gone

    def _objects(self, contest: Contest, bots: Sequence[str]) -> bool:
        """Whether the game does not let these bots begin, or cannot say so because its code fails."""
        game = self.registry[contest.game]
        try:
            return bool(game.objection(bots, game.options_with_defaults(contest.options)))
        except RAISED:
            log.exception("game.failed", game=game.name, function="objection")
            return True

    def _was_in_vain(self, queue: str, sight: object) -> bool:
        """Whether the same tickets waited less than IN_VAIN_S ago, and no two of them could meet.

        In an open contest that changes only if one of their meetings is freed again: hence the time limit.
        """
        at_s, seen = self._in_vain.get(queue, (0.0, None))
        # a moment in the future is one of a clock that has been set back
        return seen == sight and 0 <= self.now_s() - at_s < IN_VAIN_S

    def _note_in_vain(self, queue: str, sight: object) -> None:
        if len(self._in_vain) >= MOST_IN_VAIN:
            self._in_vain.clear()
        self._in_vain[queue] = (self.now_s(), sight)

    def _begin(self, contest: Contest, queue: str, there: Present, pairings: Sequence[Pairing]) -> tuple[int, bool]:
        """Begins them in batches: the first need not wait for the last, and none begins long after its reservation."""
        begun = 0
        for at in range(0, len(pairings), AT_ONCE):
            some = self._begin_some(contest, queue, there, pairings[at : at + AT_ONCE])
            if some is None:
                return begun, True
            begun += some
        return begun, False

    def _begin_some(self, contest: Contest, queue: str, there: Present, pairings: Sequence[Pairing]) -> int | None:
        """Returns how many began; None, with none begun, if the contest has changed since it was read."""
        together = format_of(contest).TOGETHER
        planned = {new_match_id(self.now_s()): pairing for pairing in pairings}
        wanted = [
            Meeting(match_id, [waiter.bot for waiter in pairing.waiters], pairing.n, pairing.round, together)
            for match_id, pairing in planned.items()
        ]
        not_after_ms = self.store.now_ms() + BEGIN_WITHIN_MS
        before_s = self.now_s()
        reserved = self.storage.ledger.reserve(contest, wanted)
        if reserved is None:
            return None
        ids = [match_id for match_id in planned if match_id in reserved]
        game = self.registry[contest.game]
        made = self._all_made(contest, there, {match_id: planned[match_id] for match_id in ids}, before_s)
        done = self.store.begin_all(made, queue, not_after_ms)
        begun = {one.match.id: one.match for one, is_begun in zip(made, done, strict=True) if is_begun}
        unbegun = [match_id for match_id in ids if match_id not in begun]
        if unbegun:
            # somebody left, or other matches took the places at an address: the next sweep pairs those who still wait
            self.storage.meetings.release(unbegun)
        for match in begun.values():
            about = {"match": match.id, "game": game.name, "contest": contest.name}
            pairing = planned[match.id]
            players = [seat.bot for seat in match.seats]
            log.info("match.begun", **about, n=pairing.n, round=pairing.round, players=players)
            if asked_of(game, match):
                self.ask_bots(match.id)
        if begun and format_of(contest).CLOSED:
            # a match may be over before anybody looks who is missing
            self.missing.forget(*contest.where, {seat.bot for match in begun.values() for seat in match.seats})
        return len(begun)

    def _all_made(
        self, contest: Contest, there: Present, planned: Mapping[str, Pairing], started_s: float
    ) -> list[Beginning]:
        """Returns the matches' beginnings: of those for which there is time.

        Without a limit, a game that never returns would keep this worker from all other work. Each first state has the
        same: a game that is only slow has not failed because others were made before.
        """
        game = self.registry[contest.game]
        most = dict.fromkeys(there.addresses.values(), self.settings.bot_matches)
        made, until_s = list[Beginning](), time.monotonic() + self.make_within_s / 2
        for match_id, pairing in planned.items():
            if time.monotonic() >= until_s:
                break
            with time_limit(self.make_within_s):
                match = self._made(contest, there, match_id, pairing, started_s)
                made.append(beginning(game, match, most))
        return made

    def _made(self, contest: Contest, there: Present, match_id: str, pairing: Pairing, started_s: float) -> Match:
        seats = [(waiter.bot, there.tickets[waiter.ticket].place) for waiter in pairing.waiters]
        timeout_ms = contest.turn_timeout_ms or self.settings.turn_timeout_ms
        made = new_match(
            self.registry[contest.game],
            seats,
            replace(self.settings, turn_timeout_ms=timeout_ms),
            self.now_s(),
            contest=contest.name,
            options=contest.options,
            match_id=match_id,
            addresses=there.addresses,
        )
        # a match that was reserved before a pause or an end counts as begun before it
        return msgspec.structs.replace(made, started_s=started_s)
