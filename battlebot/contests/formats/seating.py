"""Shared by the formats: seating waiting bots at due meetings, and checking settings."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from battlebot.contests.formats.record import Pairing, Waiter
from battlebot.contests.formats.situation import Due
from battlebot.errors import Refused


def seated(due: Iterable[Due], waiting: Sequence[Waiter]) -> list[Pairing]:
    """The meetings of `due`, in that order, whose bots all wait. Uses each waiter once, longest wait first."""
    lines: dict[str, deque[Waiter]] = defaultdict(deque)
    for waiter in waiting:
        lines[waiter.bot].append(waiter)
    pairings = []
    for meeting in due:
        if all(lines.get(bot) for bot in meeting.bots):
            first, second, *others = [lines[bot].popleft() for bot in meeting.bots]
            pairings.append(Pairing(first, second, meeting.n, meeting.round, tuple(others)))
    return pairings


def check_fields(given: Mapping[str, Any], known: Collection[str], entrants: Sequence[str]) -> None:
    """Raises Refused for a setting that the format does not have, and for a bot that is entered twice."""
    for name in given:
        if name not in known:
            has = f"; it has: {', '.join(known)}" if known else ", nor any other"
            raise Refused(f"This format has no setting {name[:64]!r}{has}.", field=name[:64])
    if len(set(entrants)) < len(entrants):
        seen = set[str]()
        twice = next(bot for bot in entrants if bot in seen or seen.add(bot))  # type: ignore[func-returns-value]
        raise Refused(f"The bot {twice!r} is entered twice.", field="entrants")
