"""What can be seen of a contest: its ranking, its progress, its meetings, and why a bot is not playing. Reads only."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from battlebot.arena.live.queue import Queues
from battlebot.arena.live.seats import seatings
from battlebot.arena.live.store import MatchStore
from battlebot.contests.contest import OVER, Contest
from battlebot.contests.formats.situation import Due, Situation
from battlebot.contests.installed import format_of
from battlebot.contests.matrix import by_pairs, by_rounds
from battlebot.contests.service.foresight import Foresight
from battlebot.contests.service.paircounts import PairCounts
from battlebot.contests.service.resting import resting
from battlebot.contests.situating import situation_of
from battlebot.contests.why import Look, comes_later, why
from battlebot.errors import BadMessage, Refused
from battlebot.matchmaking.missing import Missing
from battlebot.redisio import keys
from battlebot.rules.contract import RAISED_OUTSIDE
from battlebot.rules.registry import Registry
from battlebot.runtime import sharedtime
from battlebot.runtime.cooperative import cooperatively
from battlebot.runtime.elsewhere import Elsewhere
from battlebot.storage import Storage

MOST_BOTS = 200  # with more, meetings are shown for one bot at a time
TRIES = 3  # to read a ranking and what belongs to it at a moment at which no result comes

Answer = TypeVar("Answer")


@dataclass
class Lookout:
    """Every method raises Unavailable when a store does not answer.

    `bot_matches`: in how many matches stateless bots may be asked at one address. `call`: as in `Situation`; bots play
    in the processes that use this. `registry`: the games.
    """

    storage: Storage
    store: MatchStore
    queues: Queues
    missing: Missing
    bot_matches: int
    registry: Registry
    now_s: Callable[[], float] = sharedtime.now_s
    call: Callable[..., Any] = field(default_factory=Elsewhere)

    def __post_init__(self) -> None:
        self._foresight = Foresight(lambda *of: self._situation(*of)[0])
        self._pair_counts = PairCounts(self.storage.contests, self.storage.standings)

    def ranking(self, contest: Contest) -> list[dict[str, Any]]:
        """The rows of the format's `ranking`, best first."""
        return self._ranked(contest, self.storage.standings.of_contest(*contest.where))

    def ranking_with(
        self, contest: Contest, read: Callable[[list[dict[str, Any]]], Answer]
    ) -> tuple[list[dict[str, Any]], Answer]:
        """The rows of `ranking`, and what `read(rows)` returns: of one moment, unless results come all the time."""
        standings = self.storage.standings
        for _ in range(TRIES):
            counts = standings.of_contest(*contest.where)
            rows = self._ranked(contest, counts)
            answer = read(rows)
            if standings.of_contest(*contest.where) == counts:
                break
        return rows, answer

    def _ranked(self, contest: Contest, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        points, form = contest.points, format_of(contest)
        # bots may have come before the contest had its list
        members = set(contest.bots([row["bot_id"] for row in rows]))
        rows = [row for row in rows if row["bot_id"] in members]
        ranked = form.ranking(
            contest.listed,
            rows,
            lambda bots: self._pair_counts.of(contest, rows, bots),
            (points["win"], points["draw"], points["loss"]),
            self._foreseen(contest, rows)["byes"] if form.CLOSED else {},
        )
        return [{**row} for row in ranked]

    def standing(self, contest: Contest) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """The rows of `ranking`, and `{"played", "planned", "live"}` with `winner` if the format names one.

        `played`: meetings that are over, including missed ones. `planned`: None if unknown. If nothing is `live`, and
        the contest was over when it was read, the rows are the last ones.
        """
        # counted first: a match that ends meanwhile is in both, and not in neither
        live = self.storage.meetings.open_count(*contest.where)
        rows = self.ranking(contest)
        return rows, self._progress(contest, rows, live)

    def _progress(self, contest: Contest, rows: Sequence[Mapping[str, Any]], live: int) -> dict[str, Any]:
        foreseen = self._foreseen(contest, rows)
        where, form = contest.where, format_of(contest)
        if form.TOGETHER:
            played = self.storage.meetings.over_count(*where)
        else:
            played = _played(rows) + self.storage.meetings.uncounted(*where)
        progress = {"played": played, "planned": foreseen["planned"], "live": live}
        if form.NAMES_WINNER:
            over = not live and played == progress["planned"]
            progress["winner"] = foreseen["winner"] or (_alone_at_the_top(rows) if over else None)
        return progress

    def meetings(self, contest: Contest, bot: str | None = None) -> dict[str, Any]:
        """`{"pairs", "rounds"}` as `contests.matrix` returns them: of all bots, or of one.

        `pairs` is empty if all meet together. Raises Refused if there are too many bots to show them all, and for a bot
        that is not in the contest.
        """
        if bot is None and len(contest.bots(self.storage.standings.came(contest))) > MOST_BOTS:
            raise Refused(f"With more than {MOST_BOTS} bots, say whose meetings: ?bot=.", field="bot", rule="required")
        alone = None if bot is None or self._has_schedule(contest) else [bot]
        if bot is not None and alone is None and bot not in contest.listed and not self._met(contest, bot):
            # as below, before all meetings are read
            raise _not_in_it(bot)
        situation, rows = self._situation(contest, alone)
        due = self._due(contest, situation)
        if bot is not None:
            rows = [row for row in cooperatively(rows) if bot in row["bots"]]
            due = [one for one in due if bot in one.bots]
            if not rows and bot not in situation.entrants:
                raise _not_in_it(bot)
        if format_of(contest).TOGETHER:
            return {"pairs": [], "rounds": by_rounds(rows, due)}
        may_meet = _may_meet(contest, situation)
        return {"pairs": by_pairs(situation, rows, due, may_meet, bot), "rounds": by_rounds(rows, due)}

    def has_rounds(self, contest: Contest) -> bool:
        """Not if its format plans no meetings, nor if all meet together: battles do not wait for one another."""
        form = format_of(contest)
        return form.CLOSED and not form.TOGETHER

    def rounds(self, contest: Contest) -> list[dict[str, Any]]:
        """Only the rounds, if it has any."""
        if not self.has_rounds(contest):
            return []
        situation, rows = self._situation(contest)
        return by_rounds(rows, self._due(contest, situation))

    def why(self, contest: Contest, bot: str) -> dict[str, Any]:
        """`{"bot", "code", "sentence", "match", "since", "left"}`: why the bot is not playing in it right now."""
        game, name = contest.where
        entered = {row["bot_id"] for row in self.storage.standings.of_contest(game, name)}
        waiting = {ticket.bot for ticket in self.queues.tickets(keys.queue_name(game, name))}
        playing = self._playing(game, name)
        left, later = self._left(contest, bot, entered)
        missed = self.missing.noted(*contest.where, contest.run).get(bot)
        look = Look(
            bot=bot,
            state=contest.state,
            starts=_text(contest.starts_at),
            registered=bool(self.storage.bots.known(game, [bot])),
            entrant=bot in contest.bots(entered),
            withdrawn=bot in contest.withdrawn,
            match=playing.get(bot),
            left=left,
            later=later,
            waiting=waiting,
            playing=playing,
            since=None if missed is None else _text(datetime.fromtimestamp(missed.since_s, UTC)),
            together=format_of(contest).TOGETHER,
            resting=self._resting(contest, bot),
            full=self._is_full(bot),
            obstacle=self._obstacle(contest),
        )
        reason = why(look)
        since = look.since if reason.code == "not-connected" else None
        return {"bot": bot, **reason._asdict(), "match": look.match, "since": since, "left": sorted(left)}

    def _resting(self, contest: Contest, bot: str) -> dict[str, str]:
        """The bots that it may meet again only after a pause, and until when."""
        found = resting(self.storage, *contest.where, datetime.fromtimestamp(self.now_s(), UTC))
        return {other: str(_text(until)) for bots, until in found.items() if bot in bots for other in bots - {bot}}

    def _obstacle(self, contest: Contest) -> str | None:
        """What the game, which may have changed since the contest was made, has against its options."""
        try:
            self.registry[contest.game].options_with_defaults(contest.options)
        except BadMessage as error:
            return str(error)
        except RAISED_OUTSIDE as error:
            return f"The game cannot say whether its options go together: its code fails ({type(error).__name__})."
        return None

    def _is_full(self, bot: str) -> bool:
        busy = self.store.addresses.busy(self.storage.bots.asked([bot]).values())
        return any(matches >= self.bot_matches for matches in busy.values())

    def _left(self, contest: Contest, bot: str, entered: set[str]) -> tuple[list[str], bool]:
        """The bots that it may meet now, and whether there will be others later."""
        if contest.state != "running":
            return [], False
        there = set(contest.bots(entered)) - set(contest.withdrawn)
        if bot not in there:
            return [], False
        form = format_of(contest)
        if form.CLOSED:
            situation, _ = self._situation(contest)
            due = [one for one in cooperatively(form.due(situation)) if bot in one.bots]
            left = list(dict.fromkeys(other for one in due for other in one.bots if other != bot))
            return left, not left and comes_later(form, situation, bot)
        others = dict.fromkeys(sorted(there - {bot}), 0)
        for row in self.storage.meetings.among(*contest.where, [bot]):
            for other in row["bots"]:
                if other in others:
                    others[other] += 1
        return [other for other, times in others.items() if times < contest.meetings], False

    def _playing(self, game: str, contest: str) -> dict[str, str]:
        found = seatings(self.store, self.storage.meetings.open_ids(game, contest))
        return {seat.bot: match_id for match_id, match in found.items() if not match.is_over for seat in match.seats}

    def _situation(
        self, contest: Contest, bots: Collection[str] | None = None
    ) -> tuple[Situation, list[dict[str, Any]]]:
        """What the format sees, and the stored meetings: all, or only those of any of these bots."""
        kept, where = self.storage.meetings, contest.where
        rows = kept.of_contest(*where) if bots is None else kept.of_bots(*where, bots)
        came, voids = self.storage.standings.came(contest), self.storage.voids.of_contest(*where)
        situation = situation_of(contest, rows, came, voids)
        return replace(situation, call=self.call), rows

    def _met(self, contest: Contest, bot: str) -> bool:
        return bool(self.storage.meetings.of_bots(*contest.where, [bot]))

    def _has_schedule(self, contest: Contest) -> bool:
        """Whether what a bot plays next depends on the meetings of others."""
        return format_of(contest).CLOSED and contest.state not in OVER

    def _due(self, contest: Contest, situation: Situation) -> list[Due]:
        form = format_of(contest)
        # for an open contest that would be every pair that may still meet
        return form.due(situation) if form.CLOSED and contest.state in ("running", "paused") else []

    def _foreseen(self, contest: Contest, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """`planned` and `winner`; of a closed contest also `byes`."""
        if not format_of(contest).CLOSED:
            return {"planned": self._planned_of_open(contest, rows), "winner": None}
        return self._foresight.of(contest, _played(rows))

    def _planned_of_open(self, contest: Contest, rows: Sequence[Mapping[str, Any]]) -> int:
        """All meetings of the bots that stay, plus those that withdrawn bots have played."""
        gone = set(contest.withdrawn)
        staying = sum(row["bot_id"] not in gone for row in rows)
        planned = contest.meetings * staying * (staying - 1) // 2
        if gone:
            pairs = self.storage.standings.pairs(*contest.where, sorted(gone))
            twice = sum((_met(pair) if pair["opponent"] in gone else 2 * _met(pair)) for pair in pairs)
            planned += twice // 2
        return planned


def _may_meet(contest: Contest, situation: Situation) -> Callable[[str, str], bool]:
    """Like the format's `may_meet`; nobody may once the contest is over."""
    if contest.state in OVER:
        return lambda a, b: False
    return format_of(contest).may_meet(situation)


def _not_in_it(bot: str) -> Refused:
    return Refused(f"The bot {bot!r} is not in the contest.", field="bot", rule="known")


def _alone_at_the_top(rows: Sequence[Mapping[str, Any]]) -> str | None:
    first = [row["bot_id"] for row in rows if row["rank"] == 1]
    return first[0] if len(first) == 1 else None


def _met(pair: Mapping[str, Any]) -> int:
    return int(pair["wins"] + pair["draws"] + pair["losses"])


def _played(rows: Sequence[Mapping[str, Any]]) -> int:
    return sum(row["played"] for row in rows) // 2


def _text(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
