"""Who waits in a contest, where its stateless bots are asked, and in how many more matches they may be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from battlebot.arena.live.queue import Ticket
from battlebot.arena.live.store import MatchStore
from battlebot.arena.places import is_stateless
from battlebot.contests.formats.record import Pairing, Waiter
from battlebot.storage import Storage


@dataclass
class Present:
    """`tickets`: by their texts; `addresses`: stateless bot -> its address; `left`: address -> how many more matches.

    Others begin matches at the same time, so the store looks again: this spares reservations that would be in vain.
    """

    tickets: Mapping[str, Ticket]
    addresses: Mapping[str, str]
    left: dict[str, int]

    @classmethod
    def of(cls, tickets: Mapping[str, Ticket], storage: Storage, store: MatchStore, most: int) -> Present:
        """Reads where the bots of these tickets are asked, in at most `most` matches. Raises Unavailable."""
        addresses = storage.bots.addresses([one.bot for one in tickets.values() if is_stateless(one.place)])
        busy = store.addresses.busy(addresses.values())
        return cls(tickets, addresses, {address: most - matches for address, matches in busy.items()})

    def may_play(self, waiter: Waiter) -> bool:
        """Whether the waiter may be in one match more."""
        return not self._full([waiter])

    def take(self, pairing: Pairing) -> bool:
        """Takes a place at each address that is asked for the pairing; takes none and returns False if one is full."""
        if self._full(pairing.waiters):
            return False
        for address in self._asked(pairing.waiters):
            self.left[address] -= 1
        return True

    def _full(self, waiters: Iterable[Waiter]) -> bool:
        return any(self.left[address] <= 0 for address in self._asked(waiters))

    def _asked(self, waiters: Iterable[Waiter]) -> set[str]:
        return {self.addresses[one.bot] for one in waiters if is_stateless(self.tickets[one.ticket].place)}
