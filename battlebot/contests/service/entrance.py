"""Admits bots to contests at login. Pairing is in `pairer`, the organiser's side in `organiser`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import structlog

from battlebot.config import Settings
from battlebot.contests.contest import OVER, Contest
from battlebot.errors import ContestClosed, TooMany, Unavailable
from battlebot.redisio import keys
from battlebot.redisio.bus import Bus
from battlebot.runtime import sharedtime
from battlebot.runtime.background import in_background
from battlebot.runtime.batcher import Batcher
from battlebot.runtime.loglimit import LogLimit
from battlebot.storage import Storage
from battlebot.storage.standings import Entry

log = structlog.get_logger()
may_tell = LogLimit()

KNOWN_FOR_S = 2.0  # after that, a login has a cached contest refreshed in the background
HEARD_S = 0.0  # instead of when it was seen, for a cached contest of which a letter has told more than the cache knew
OPENING_S = 5.0  # how long a login waits for another one that is opening the same contest
DOORS = 64
REMEMBERED = 50_000  # contests, and bots in contests; then the cache is cleared


class Entrance:
    """While MongoDB is down, bots are still admitted to contests that this process has seen.

    `may_open(address)`: whether another contest opened from that address is within the limit, which all nodes share.
    """

    def __init__(self, storage: Storage, bus: Bus, settings: Settings, may_open: Callable[[str], bool]) -> None:
        self._storage = storage
        self._bus = bus
        self._settings = settings
        self._may_open = may_open
        self._known: dict[tuple[str, str], tuple[float, Contest]] = {}
        self._entered: set[Entry] = set()
        self._ranked = Batcher(self._rank)
        # each is shared by the contests that hash to it
        self._doors = [threading.Lock() for _ in range(DOORS)]

    def enter(self, game: str, contest: str, bot: str, address: str) -> str | None:
        """Admits the bot to the contest; opens the contest if it does not exist and the operator allows that.

        Returns how the contest is over, as `over` does.

        `address`: where the login comes from. Bots may wait in a contest that is over or has not begun; the ranking of
        one that is over takes no new bots. Raises ContestClosed if the contest does not exist and logins may not open
        it, and for a bot that is not on a closed contest's list; TooMany if the contest does not exist and the address
        has opened too many; Unavailable.
        """
        found = self._cached(game, contest) or self._look(game, contest) or self._opened(game, contest, address)
        if not _admits(found, bot):
            # the bot may have been entered since the contest was cached
            found = self._look(game, contest) or found
        elif found.state in OVER:
            # a match taken back may have opened it again; who comes to one that is over is in no hurry
            with suppress(Unavailable):
                found = self._look(game, contest) or found
        if not _admits(found, bot):
            raise ContestClosed(f"{bot!r} is no entrant of the contest {contest!r}.", contest=contest)
        try:
            entry = (game, contest, bot)
            if entry not in self._entered and found.state not in OVER and not self._ranked.ask(entry):
                # it has ended since it was cached
                found = self._look(game, contest) or found
        except Unavailable:
            log.warning("contest.entered_unseen", game=game, contest=contest, bot=bot)
        return _over(found)

    def end(self, game: str, contest: str, how: str) -> None:
        """Notes that the contest is over, `for-now` or `for-good`.

        Returns at once: the next login has it looked up in the background.
        """
        self._hear(game, contest, "finished" if how == "for-now" else "cancelled")

    def reopen(self, game: str, contest: str) -> None:
        """Notes that the contest, which was over `for-now`, goes on. Returns at once, as `end` does."""
        self._hear(game, contest, "running")

    def over(self, game: str, contest: str) -> str | None:
        """Returns at once how the contest is over, as far as is known here; None if it is not."""
        known = self._cached(game, contest)
        return None if known is None else _over(known)

    def _hear(self, game: str, contest: str, state: str) -> None:
        _, known = self._known.get((game, contest), (HEARD_S, None))
        if known is not None:
            self._known[game, contest] = (HEARD_S, replace(known, state=state))

    def _rank(self, entries: Sequence[Entry]) -> list[bool]:
        """Gives each bot a row in its contest's ranking, unless that is over; returns whether each has one now."""
        new = self._storage.standings.enter(entries)
        # each contest may have ended since it was cached, or just now
        over = {where for where in {entry[:2] for entry in new} if self._is_over(*where)}
        refused = {entry for entry in new if entry[:2] in over}
        for entry in refused:
            self._storage.standings.leave(entry)
        ranked = set(entries) - refused
        if len(self._entered) + len(ranked) > REMEMBERED:
            self._entered.clear()
        self._entered |= ranked
        for game, contest in {entry[:2] for entry in ranked}:
            self._bus.publish(keys.contest_events(game, contest), b"entered")
        return [entry in ranked for entry in entries]

    def _is_over(self, game: str, contest: str) -> bool:
        found = self._storage.contests.find(game, contest)
        return found is not None and found.state in OVER

    def _cached(self, game: str, contest: str) -> Contest | None:
        seen_s, known = self._known.get((game, contest), (HEARD_S, None))
        if known is not None and time.monotonic() - seen_s >= KNOWN_FOR_S:
            # the cached contest serves this login: a MongoDB that hangs must not hold it up
            self._known[game, contest] = (time.monotonic(), known)
            in_background(self._look_again, game, contest)
        return known

    def _look_again(self, game: str, contest: str) -> None:
        try:
            if self._look(game, contest) is None:
                self._known.pop((game, contest), None)
        except Unavailable:
            if may_tell((game, contest)):
                log.warning("contest.seen_late", game=game, contest=contest)

    def _look(self, game: str, contest: str) -> Contest | None:
        before = self._known.get((game, contest))
        found = self._storage.contests.find(game, contest)
        now = self._known.get((game, contest))
        # a letter that came meanwhile may tell of something later
        is_overtaken = now is not None and now is not before and now[0] == HEARD_S
        return found if found is None or is_overtaken else self._remembered(game, contest, found)

    def _opened(self, game: str, contest: str, address: str) -> Contest:
        """Opens the contest by one login; concurrent logins, at this node or another, find it open."""
        if not self._settings.contests_by_login:
            raise ContestClosed(f"There is no contest {contest!r} of {game}.", contest=contest)
        door = self._doors[hash((game, contest)) % DOORS]
        if not door.acquire(timeout=OPENING_S):
            raise Unavailable("Another login has been opening this contest for long.")
        try:
            if (known := self._known.get((game, contest))) is not None:
                return known[1]
            if not self._may_open(address):
                if (found := self._look(game, contest)) is not None:
                    return found
                log.info("contest.not_opened", game=game, contest=contest, address=address)
                raise TooMany("Your address has opened too many contests; name one that exists, or wait a minute.")
            found = self._storage.contests.open(game, contest, self._settings.meetings_cap)
            log.info("contest.opened", game=game, contest=contest)
            return self._remembered(game, contest, found)
        finally:
            door.release()

    def _remembered(self, game: str, contest: str, found: Contest) -> Contest:
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[game, contest] = (time.monotonic(), found)
        return found


def _over(contest: Contest) -> str | None:
    return contest.over(sharedtime.now())


def _admits(contest: Contest, bot: str) -> bool:
    return contest.is_open or bot in contest.listed
