"""Swiss: a number of rounds in which bots of about the same score meet. The pairing itself is in `matching`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, combinations
from typing import Any

from battlebot.contests.formats.contract import Format
from battlebot.contests.formats.matching import Entrant, matching, takes_long
from battlebot.contests.formats.record import Record, pair_of
from battlebot.contests.formats.seating import check_fields
from battlebot.contests.formats.situation import Due, Met, Situation, directly
from battlebot.errors import Refused

MOST_ENTRANTS = 500  # pairing a round of this many takes seconds, of twice as many half a minute


class Swiss(Format):
    """Rounds that are paired one after the other, each once the rounds before it are over."""

    NAME = "swiss"
    CLOSED = True
    TOGETHER = False

    def checked_config(self, given: Mapping[str, Any], entrants: Sequence[str], meetings: int) -> dict[str, Any]:
        """`rounds`: by default log2 of the number of entrants, rounded up, plus one. Raises Refused.

        At most (n - 1) * `meetings` rounds for an even number n of entrants, n for an odd one (one bye per bot).
        """
        check_fields(given, ("rounds",), entrants)
        if len(entrants) > MOST_ENTRANTS:
            raise Refused(f"A Swiss contest takes {MOST_ENTRANTS} entrants at most.", field="entrants")
        size, rounds = len(entrants), given.get("rounds")
        most = size if size % 2 else (size - 1) * meetings
        if rounds is None:
            return {"rounds": max(1, min(_default_rounds(size), most))}
        if type(rounds) is not int or rounds < 1:
            raise Refused(f"rounds must be a whole number from 1 to {max(1, most)}.", field="rounds")
        if size > 1 and rounds > most:
            what = f"{size} bots with {meetings} meetings a pair can play {most} rounds at most."
            raise Refused(what, field="rounds")
        return {"rounds": rounds}

    def due(self, situation: Situation) -> list[Due]:
        """The meetings left in the first of the rounds begun that is not over; once all are over, the whole next round.

        A later round stays as it is meanwhile: what becomes of it depends on that round's results.
        """
        book = _Book(situation)
        for met, left in zip(book.rounds, book.left, strict=True):
            if left or any(one.state == "open" for one in met):
                return left
        return book.next_round()

    def planned(self, situation: Situation) -> int | None:
        """Counts half of the field for each round not yet begun; an estimate if some pairs may not meet again."""
        ahead = _Book(situation).ahead()
        if not ahead and all(met.state != "open" for met in situation.met):
            return len(situation.met)
        staying = sum(bot not in situation.withdrawn for bot in situation.entrants)
        rounds = [met.round for met in situation.met] + [meeting.round for meeting in ahead]
        return len(situation.met) + len(ahead) + max(0, _rounds(situation) - max(rounds)) * (staying // 2)

    def may_meet(self, situation: Situation) -> Callable[[str, str], bool]:
        """Whether there is a round left in which the two may meet."""
        ahead = _Book(situation).ahead()
        if _has_rounds_after(ahead, situation):
            return lambda a, b: True
        pairs = {pair_of(one.first, one.second) for one in ahead}
        return lambda a, b: pair_of(a, b) in pairs

    def has_more(self, situation: Situation, bot: str) -> bool | None:
        """Whether one of its meetings waits for an earlier round, or rounds come after those begun or beginning now.

        Those need not be paired to know.
        """
        ahead = _Book(situation).ahead()
        return _has_rounds_after(ahead, situation) or any(bot in meeting.bots for meeting in ahead)

    def byes(self, situation: Situation) -> dict[str, int]:
        """Bot -> 1, for each bot that has had a bye: from the beginning of the first round that it sits out.

        A bot sits out a round if it is in none of its pairings, played or due. A withdrawn bot counts up to the round
        of its last meeting.
        """
        return dict.fromkeys(chain.from_iterable(_Book(situation).sitting_out), 1)


def _default_rounds(size: int) -> int:
    return max(0, size - 1).bit_length() + 1


def _rounds(situation: Situation) -> int:
    return int(situation.config["rounds"])


def _has_rounds_after(ahead: Iterable[Due], situation: Situation) -> bool:
    """Whether any round comes after those of the meetings so far and of those `ahead`."""
    begun = max((met.round for met in situation.met), default=0)
    return max([begun, *(meeting.round for meeting in ahead)]) < _rounds(situation)


class _Book:
    """The rounds that have begun, in order: the meetings reserved, the meetings left, and the bots that sit out."""

    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        self.active = [bot for bot in situation.entrants if bot not in situation.withdrawn]
        self.record = _record(situation.met)
        self.void = {(one.round, one.n, pair_of(one.first, one.second)): one.first for one in situation.void}
        begun = max((met.round for met in situation.met), default=0)
        self.rounds: list[list[Met]] = [[] for _ in range(begun)]
        self.last = dict.fromkeys(self.active, begun)
        for met in situation.met:
            self.rounds[met.round - 1].append(met)
            for bot in (met.first, met.second):
                self.last[bot] = max(met.round, self.last.get(bot, 0))
        self.left: list[list[Due]] = []
        self.sitting_out: list[set[str]] = []
        for number in range(1, begun + 1):
            self.left.append(self.left_in(number))
            self.sitting_out.append(self._others_than(self._seated_in(number) | _bots(self.left[-1]), number))

    def _others_than(self, bots: set[str], number: int) -> set[str]:
        return {bot for bot, last in self.last.items() if last >= number} - bots

    def _seated_in(self, number: int) -> set[str]:
        return _bots(self.rounds[number - 1]) if number <= len(self.rounds) else set()

    def free_in(self, number: int) -> list[str]:
        """The bots without a pairing in the round, if at least two of them may meet; else none."""
        seated = self._seated_in(number)
        free = [bot for bot in self.active if bot not in seated]
        may_meet = any(self.record.met(*two) < self.situation.meetings for two in combinations(free, 2))
        return free if may_meet else []

    def left_in(self, number: int) -> list[Due]:
        """The meetings of the round that are not reserved yet.

        The round is paired as a whole. Its reserved meetings fit that pairing unless a bot has withdrawn since or
        earlier results have changed; then the bots that are still free are paired among themselves.
        """
        free = self.free_in(number)
        if not free:
            return []
        earlier = [met for met in self.situation.met if met.round < number]
        played = {pair_of(met.first, met.second) for met in self.rounds[number - 1]} if self._has(number) else set()
        whole = self._paired(self.active, number, earlier, ahead=_rounds(self.situation) - number)
        pairs = [two for two in whole if set(two) <= set(free)]
        fits = played <= {pair_of(*two) for two in whole}
        if not fits or any(self.record.met(*two) >= self.situation.meetings for two in pairs):
            pairs = self._paired(free, number, self.situation.met)
        # who played in later rounds before a meeting of this one was due has moved first or second there
        balance = _balance(self.situation.met)
        return [self._due(number, *two, balance) for two in pairs]

    def next_round(self) -> list[Due]:
        """The whole round after those that have begun, if there is one."""
        number = len(self.rounds) + 1
        return self.left_in(number) if number <= _rounds(self.situation) else []

    def ahead(self) -> list[Due]:
        """All meetings left in the rounds that have begun, also those that wait for an earlier round; else as `due`."""
        left = list(chain.from_iterable(self.left))
        return left or ([] if any(met.state == "open" for met in self.situation.met) else self.next_round())

    def _has(self, number: int) -> bool:
        return number <= len(self.rounds)

    def _due(self, number: int, a: str, b: str, balance: Mapping[str, int]) -> Due:
        """First moves alternate within a pair.

        In a pair's first meeting, the bot with the lower balance moves first, then the higher seed (`a`); a void one
        keeps its first mover.
        """
        n = self.record.next_number(a, b)
        if self.record.met(a, b):
            first = self.record.first_mover(a, b, n)
        else:
            first = self.void.get((number, n, pair_of(a, b))) or min(a, b, key=balance.__getitem__)
        return Due(number, n, first, b if first == a else a)

    def _paired(self, bots: Sequence[str], number: int, met: Sequence[Met], ahead: int = 0) -> list[tuple[str, str]]:
        """The pairs of these bots in the round, of whose meetings those in `met` are to be taken into account."""
        scores, balance, record = self._scores(number), _balance(met), _record(met)
        have_sat_out = set(chain.from_iterable(self.sitting_out[: number - 1]))
        for later in range(number + 1, len(self.rounds) + 1):
            if not self.free_in(later):
                have_sat_out |= self._others_than(self._seated_in(later), later)
        entrants = tuple(Entrant(scores[bot], balance[bot], bot in have_sat_out) for bot in bots)
        index = {bot: i for i, bot in enumerate(bots)}
        often = {
            (index[a], index[b], len(between), index[record.first_mover(a, b, record.next_number(a, b))])
            for a in bots
            for b, between in record.numbers.get(a, {}).items()
            if index[a] < index.get(b, 0)
        }
        call = self.situation.call if takes_long(len(bots), _rounds(self.situation)) else directly
        pairs = call(matching, entrants, tuple(sorted(often)), self.situation.meetings, ahead)
        return [(bots[i], bots[j]) for i, j in pairs]

    def _scores(self, number: int) -> dict[str, int]:
        """Points before the round."""
        win, draw, loss = self.situation.points
        scores: dict[str, int] = defaultdict(int)
        for met in self.situation.met:
            if met.round < number and met.state != "open" and met.counts:
                for bot in (met.first, met.second):
                    drawn = met.state == "played" and met.victor is None
                    scores[bot] += draw if drawn else win if met.victor == bot else loss
        for bot in set(chain.from_iterable(self.sitting_out[: number - 1])):
            scores[bot] += win
        return scores


def _record(met: Iterable[Met]) -> Record:
    return Record.of((one.first, one.second, one.n) for one in met)


def _bots(meetings: Iterable[Met | Due]) -> set[str]:
    return {bot for one in meetings for bot in (one.first, one.second)}


def _balance(met: Iterable[Met]) -> dict[str, int]:
    """Bot -> first moves minus second moves, without missed meetings."""
    balance: dict[str, int] = defaultdict(int)
    for one in met:
        if one.state != "absent":
            balance[one.first] += 1
            balance[one.second] -= 1
    return balance
