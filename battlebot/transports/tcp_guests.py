"""Those who are at the TCP door of a node: the names that they hold, and for how long. No conversation, no seats."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from weakref import WeakValueDictionary

import structlog
from gevent.lock import RLock

from battlebot.arena.names.presence import HOLD_S, Holder, Presence
from battlebot.arena.node.player import Player
from battlebot.errors import Unavailable
from battlebot.runtime import sharedtime
from battlebot.runtime.background import in_background
from battlebot.transports.tcp_guest import Guest
from battlebot.wire.closing import TAKEN_OVER

log = structlog.get_logger()

NOTE_ONLINE_S = 30.0  # between two notes of how long players have been online
NOBODY = (None, 0.0)


class Guests:
    """By their players, from before they claim their names until they are gone.

    `attendance(stays)` notes of each `(name, since_ms, seconds)` that the connection that began at `since_ms` (epoch)
    has lasted `seconds` so far; it may raise Unavailable.
    """

    def __init__(self, names: Presence, attendance: Callable[[Sequence[tuple[str, int, float]]], None]) -> None:
        self._names = names
        self._attendance = attendance
        self._guests: dict[Player, Guest] = {}
        # by name: who has claimed it last, and when (monotonic)
        self._last: dict[str, tuple[Guest, float]] = {}
        self._claiming: WeakValueDictionary[str, RLock] = WeakValueDictionary()
        self._given_up: list[Holder] = []
        self._noted_s = time.monotonic()

    def of(self, player: Player) -> Guest | None:
        """Returns the player's guest; None if it is gone."""
        return self._guests.get(player)

    def add(self, player: Player, guest: Guest) -> None:
        """Call before `claim`."""
        self._guests[player] = guest

    def remove(self, player: Player, wait: bool = True) -> None:
        """Frees the name of one that is gone, if it still has it. Without `wait` returns before Redis has answered."""
        guest = self._guests.pop(player)
        if self._last.get(guest.name, NOBODY)[0] is guest:
            del self._last[guest.name]
        if wait:
            self._give_up(guest.holder)
        else:
            in_background(self._give_up, guest.holder)
        self._note(guest)

    def claim(self, guest: Guest) -> tuple[str, ...] | None:
        """Takes the guest's name, whoever held it; returns the live matches of that name. Raises Unavailable.

        Returns None if a later connection to this node has taken it since the guest's login came: a client that opens
        one after the other without waiting stays with the last. Also if the guest was sent away while it waited: its
        client may have the name at another node by now.
        """
        claiming = self._claiming.setdefault(guest.name, RLock())
        # those who wait for an absent Redis do so together, not one after the other
        if not claiming.acquire(timeout=HOLD_S):
            raise Unavailable("Redis does not answer now: it has long been asked for the same name.")
        try:
            if guest.dismissed:
                return None
            last, at_s = self._last.get(guest.name, NOBODY)
            if last is not None and last.arrival.number > guest.arrival.number and at_s > guest.arrival.login_s:
                return None
            claimed = self._names.claim(guest.holder)
            self._last[guest.name] = guest, time.monotonic()
        finally:
            claiming.release()
        if claimed.before is not None:
            # a connection of this node is closed at once; the letter, which may be late, is for other nodes
            self.expel(claimed.before.connection)
        return claimed.matches

    def is_own(self, guest: Guest) -> bool:
        """Returns whether the guest still holds its name. Raises Unavailable."""
        [(own, _)] = self._names.confirm([guest.holder])
        return own

    def expel(self, connection: str) -> None:
        """Closes `connection` (`node/number`), if it is here: another one has taken its name."""
        for player, guest in list(self._guests.items()):
            if guest.holder.connection == connection and not player.gone:
                log.info("tcp.taken_over", bot=guest.name)
                # it may be about to take a seat, which now belongs to the later connection
                player.gone = True
                guest.close(TAKEN_OVER)

    def look(self) -> list[tuple[Player, Guest, str]]:
        """Closes those who hold their names no more; returns those with a live match. Raises Unavailable."""
        given_up, self._given_up = self._given_up, []
        for holder in given_up:
            self._give_up(holder)
        # who is still being let in has no name to lose: another may hold it at this moment
        guests = [(player, guest) for player, guest in self._guests.items() if guest.settled]
        answers = self._names.confirm([guest.holder for _, guest in guests])
        playing = []
        for (player, guest), (own, match_id) in zip(guests, answers, strict=True):
            if player not in self._guests:
                # it left meanwhile: its name may have been given up first, and then been confirmed
                self._given_up.append(guest.holder)
            elif not own:
                guest.close(TAKEN_OVER)
            elif match_id is not None:
                playing.append((player, guest, match_id))
        return playing

    def note_online(self) -> None:
        """Every `NOTE_ONLINE_S`, notes who is online, and frees the names of dead nodes. Raises Unavailable."""
        if time.monotonic() - self._noted_s >= NOTE_ONLINE_S:
            self._noted_s = time.monotonic()
            self._names.drop_dead()
            self._note(*self._guests.values())

    def _give_up(self, holder: Holder) -> None:
        try:
            self._names.give_up(holder)
        except Unavailable:
            self._given_up.append(holder)

    def _note(self, *guests: Guest) -> None:
        now_s = sharedtime.now_s()
        begun = [(guest.name, guest.holder.since_ms) for guest in guests]
        try:
            self._attendance([(name, since_ms, max(0.0, now_s - since_ms / 1000)) for name, since_ms in begun])
        except Unavailable as error:
            # the next note includes this time
            log.warning("tcp.online_not_noted", players=len(guests), error=str(error))
