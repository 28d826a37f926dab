"""Plays a contest with random results, absences, withdrawals and voids; checks what must hold throughout."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from battlebot.contests.formats.contract import Format
from battlebot.contests.formats.record import Waiter, pair_of
from battlebot.contests.formats.situation import Due, Met, Situation


@dataclass(frozen=True)
class Trouble:
    """The chances of events; `voids` and `withdrawals` are the most that happen in a contest."""

    absent: float = 0.0
    drawn: float = 0.2
    voids: int = 0
    withdrawals: int = 0


CALM = Trouble()
STORMY = Trouble(absent=0.15, drawn=0.2, voids=4, withdrawals=3)


@dataclass
class Playing:
    """A contest that proceeds by one random event at a time; bots wait with one or two tickets each."""

    form: Format
    situation: Situation
    dice: random.Random
    trouble: Trouble = CALM
    voids: int = 0
    settled: int = 0  # rounds settled at an earlier moment, since when nothing became void
    events: list[str] = field(default_factory=list)

    def to_the_end(self) -> Situation:
        """Plays until the format says it is complete; fails if it stalls or never ends."""
        limit = 200 + 20 * self.situation.meetings * len(self.situation.entrants) ** 2
        for _ in range(limit):
            due = self.form.due(self.situation)
            self.check(due)
            if self.form.complete(self.situation):
                assert not due
                assert not self.open_ones()
                assert self.form.planned(self.situation) == len(self.situation.met)
                return self.situation
            self.happen(due)
        raise AssertionError(f"no end after {limit} events")

    def check(self, due: list[Due]) -> None:
        """Checks what holds at any moment for any format with a list of entrants."""
        now = self.situation
        taken = {(pair_of(met.first, met.second), met.n) for met in now.met}
        offered = [(pair_of(one.first, one.second), one.n) for one in due]
        assert due or self.open_ones() or self.form.complete(now), "a stall"
        assert due == self.form.due(now), "not deterministic"
        assert len({pair for pair, _ in offered}) == len(offered), "a pair twice at once"
        assert not taken.intersection(offered), "a meeting that there has been"
        self.check_without_what_is_settled(due)
        check_what_it_plans(self.form, now)
        for one in due:
            assert 1 <= one.n <= now.meetings
            assert one.first != one.second
            assert {one.first, one.second} <= set(now.entrants) - now.withdrawn
            assert Due(one.round, one.n, one.second, one.first) not in now.void, "played again with the other first"

    def check_without_what_is_settled(self, due: list[Due]) -> None:
        """Checks that a format that may forget rounds gives the same answers without those settled, earlier and now."""
        now = self.form.settled(self.situation)
        if not now and not self.settled:
            return
        for rounds in {self.settled, now}:
            met = tuple(met for met in self.situation.met if met.state == "open" or met.round > rounds)
            cut = replace(self.situation, met=met, settled=rounds)
            assert self.form.due(cut) == due
            assert self.form.complete(cut) == self.form.complete(self.situation)
            assert self.form.settled(cut) == now
        if self.dice.random() < 0.3:
            self.settled = now

    def happen(self, due: list[Due]) -> None:
        """Makes one event happen."""
        dice, now = self.dice, self.situation
        if self.voids < self.trouble.voids and now.met and dice.random() < 0.05:
            self.voids += 1
            self.drop(dice.choice(now.met))
        elif len(now.withdrawn) < self.trouble.withdrawals and dice.random() < 0.03:
            self.withdraw(dice.choice(now.entrants))
        elif self.open_ones() and (not due or dice.random() < 0.5):
            self.end(dice.choice(self.open_ones()))
        elif due and dice.random() < self.trouble.absent:
            one = dice.choice(due)
            there = dice.choice([one.first, one.second, None])
            self.add(Met(one.round, one.n, one.first, one.second, "absent", there))
        else:
            self.begin(due)

    def begin(self, due: list[Due]) -> None:
        """Lets some bots wait, with a ticket or two; the format must pair some if, and only if, two of them are due."""
        now, dice = self.situation, self.dice
        bots = [bot for bot in now.entrants if dice.random() < 0.7] * dice.choice([1, 1, 2])
        dice.shuffle(bots)
        waiting = [Waiter(bot, f"{bot}{index}") for index, bot in enumerate(bots)]
        pairings = self.form.pair(now, waiting)
        sitting = Counter(waiter for pairing in pairings for waiter in (pairing.first, pairing.second))
        assert set(sitting) <= set(waiting)
        assert max(sitting.values(), default=1) == 1
        assert bool(pairings) == any({one.first, one.second} <= set(bots) for one in due)
        for pairing in pairings:
            meeting = Due(pairing.round, pairing.n, pairing.first.bot, pairing.second.bot)
            assert meeting in due
            self.add(Met(meeting.round, meeting.n, meeting.first, meeting.second, "open", None))

    def open_ones(self) -> list[Met]:
        """Returns the meetings that are being played."""
        return [met for met in self.situation.met if met.state == "open"]

    def add(self, met: Met) -> None:
        """Adds a meeting."""
        self.events.append(str(met))
        self.situation = replace(self.situation, met=(*self.situation.met, met))

    def end(self, met: Met) -> None:
        """Ends a meeting as played."""
        victor = None if self.dice.random() < self.trouble.drawn else self.dice.choice([met.first, met.second])
        over = replace(met, state="played", victor=victor)
        self.events.append(str(over))
        self.situation = replace(self.situation, met=tuple(over if one == met else one for one in self.situation.met))

    def drop(self, met: Met) -> None:
        """Makes a meeting void."""
        self.events.append(f"void {met}")
        self.settled = 0
        now = self.situation
        void = (*now.void, Due(met.round, met.n, met.first, met.second))
        self.situation = replace(now, met=tuple(one for one in now.met if one != met), void=void)

    def withdraw(self, bot: str) -> None:
        """Withdraws a bot: its open meetings become void."""
        self.events.append(f"withdrawn {bot}")
        self.situation = replace(self.situation, withdrawn=self.situation.withdrawn | {bot})
        for met in self.open_ones():
            if bot in (met.first, met.second):
                self.drop(met)


def battles_to_the_end(form: Format, now: Situation, dice: random.Random) -> Situation:
    """Plays a contest of all together, with ends, voids, withdrawals, and bots that are gone; fails where it stalls.

    Each number is one battle's, from 1 to the last that there can be.
    """
    most = form.most_meetings(now.config, now.meetings)
    for _ in range(200 + 50 * most):
        if form.complete(now):
            assert form.planned(now) == len(now.met)
            return now
        live = [one for one in now.met if one.state == "open"]
        choice = dice.random()
        if live and choice < 0.4:
            over = dice.choice(live)
            kept = () if dice.random() < 0.2 else (replace(over, state="played", victor=dice.choice(over.bots)),)
            now = replace(now, met=(*(one for one in now.met if one is not over), *kept))
        elif choice < 0.42:
            gone = now.withdrawn | {dice.choice(now.entrants)}
            staying = tuple(one for one in now.met if one.state != "open" or gone.isdisjoint(one.bots))
            now = replace(now, withdrawn=gone, met=staying)
        else:
            now = replace(now, gone=frozenset(bot for bot in now.entrants if dice.random() < 0.1))
            waiting = [Waiter(bot, f"{bot}{n}") for bot in now.entrants for n in range(dice.randint(0, 3))]
            for pairing in form.pair(now, waiting):
                first, second, *others = [waiter.bot for waiter in pairing.waiters]
                assert (now.withdrawn | now.gone).isdisjoint((first, second, *others))
                begun = Met(pairing.round, pairing.n, first, second, "open", None, others=tuple(others))
                now = replace(now, met=(*now.met, begun))
        check_what_it_plans(form, now)
        numbers = [one.n for one in now.met]
        assert len(set(numbers)) == len(numbers)
        assert set(numbers) <= set(range(1, most + 1))
    raise AssertionError("no end")


def contest(form: Format, size: int, meetings: int, given: Mapping[str, Any] | None = None) -> Situation:
    """Returns a contest of bots named a, b, c ... before its first meeting."""
    entrants = tuple(chr(97 + index) if size <= 26 else f"bot{index:04}" for index in range(size))
    config = form.checked_config(given or {}, entrants, meetings)
    return Situation(entrants, frozenset(), meetings, config, ())


def first_moves(situation: Situation) -> dict[str, int]:
    """Returns bot -> how often it moved first, less how often second."""
    balance: Counter[str] = Counter()
    for met in situation.met:
        balance[met.first] += 1
        balance[met.second] -= 1
    return dict(balance)


def times_met(situation: Situation) -> Counter[tuple[str, str]]:
    """Returns pair -> how often it has met."""
    return Counter(pair_of(met.first, met.second) for met in situation.met)


def results(text: str, round_number: int = 0) -> tuple[Met, ...]:
    """Returns the meetings that the words stand for; n is counted within each pair.

    `ab+`: a moved first and won, `ab-` lost, `ab=` drew, `ab?` is being played; `ab!`: b was absent, `ab~` a was,
    `ab0` both were.
    """
    made: list[Met] = []
    for word in text.split():
        first, second, sign = word
        n = 1 + sum(pair_of(met.first, met.second) == pair_of(first, second) for met in made)
        state = "open" if sign == "?" else "absent" if sign in "!~0" else "played"
        victor = first if sign in "+!" else second if sign in "-~" else None
        made.append(Met(round_number, n, first, second, state, victor))
    return tuple(made)


def check_what_it_plans(form: Format, now: Situation) -> None:
    """Checks that a format that plans ahead foresees the same without the meetings of bots that stay."""
    if form.PLANS_AHEAD:
        met = tuple(met for met in now.met if not now.withdrawn.isdisjoint(met.bots))
        assert form.planned(replace(now, met=met)) == form.planned(now)
        assert (form.byes(now), form.winner(now)) == ({}, None)
