"""The seeds' format: whoever waits meets whoever waits, each pair so many times and no more; bots come and go."""

from __future__ import annotations

from collections.abc import Sequence

from battlebot.contests.formats.record import Pairing, Record, Waiter

TITLE = "Open: everyone who comes meets everyone who comes"


def pair(waiting: Sequence[Waiter], record: Record, meetings: int) -> list[Pairing]:
    """Pairs the longest waiting first, with whom it has met least; among those with who waits longest.

    An immediate rematch only where nobody else waits whom it may meet. `record` gains the pairings made.
    """
    pairings = []
    free = dict.fromkeys(waiting)
    for waiter in waiting:
        if waiter not in free:
            continue
        del free[waiter]
        opponent = _best(waiter, list(free), record, meetings)
        if opponent is None:
            continue
        del free[opponent]
        n = record.next_number(waiter.bot, opponent.bot)
        first = record.first_mover(waiter.bot, opponent.bot, n)
        begins, follows = (waiter, opponent) if first == waiter.bot else (opponent, waiter)
        record.add(begins.bot, follows.bot, n)
        pairings.append(Pairing(begins, follows, n))
    return pairings


def _best(waiter: Waiter, others: Sequence[Waiter], record: Record, meetings: int) -> Waiter | None:
    best, best_key = None, (True, meetings)
    for other in others:
        if other.bot == waiter.bot:
            continue
        met = record.met(waiter.bot, other.bot)
        rematch = record.last.get(waiter.bot) == other.bot and record.last.get(other.bot) == waiter.bot
        if met < meetings and (best is None or (rematch, met) < best_key):
            best, best_key = other, (rematch, met)
            if best_key == (False, 0):
                break
    return best
