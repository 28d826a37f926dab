"""Leases on asking a match's stateless bots: one worker at a time; the lease of a dead worker expires.

A lease only avoids double questions; the commit decides which answer counts.
"""

from __future__ import annotations

import secrets
import threading

from battlebot.redisio import keys
from battlebot.redisio.scripts import Script, Scripts

TAKE = Script("battlebot.arena.live", "asktake.lua")
RENEW = Script("battlebot.arena.live", "askrenew.lua")
RELEASE = Script("battlebot.arena.live", "askrelease.lua")

LEASE_MS = 6000  # how long a dead worker keeps others from its matches
RENEW_EVERY_S = 1.5


class Lease:
    """The right to ask in one match; `lost` is set once it is known that another worker may have it."""

    def __init__(self, match_id: str) -> None:
        self.match_id = match_id
        self.token = secrets.token_hex(8)
        self.lost = False


class Leases:
    """The leases of one process. Every method raises Unavailable."""

    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts
        self._held: dict[str, Lease] = {}
        self._guard = threading.Lock()

    def take(self, match_id: str) -> Lease | None:
        """Takes the lease; returns None if it is held, perhaps by this worker: the holder's `release` then says so."""
        lease = Lease(match_id)
        names = [*self._keys(match_id), keys.sent_for(match_id)]
        if not self._scripts.run(TAKE, names, [lease.token, match_id, LEASE_MS]):
            return None
        with self._guard:
            self._held[match_id] = lease
        return lease

    def renew(self) -> None:
        """Renews all held leases. Call every `RENEW_EVERY_S`."""
        with self._guard:
            leases = list(self._held.values())
        if not leases:
            return
        names = [keys.ASKING, *(keys.asking(lease.match_id) for lease in leases)]
        arguments = [word for lease in leases for word in (lease.token, lease.match_id)]
        answers = self._scripts.run(RENEW, names, [LEASE_MS, *arguments])
        for lease, held in zip(leases, answers, strict=True):
            lease.lost = not held

    def release(self, lease: Lease) -> bool:
        """Gives the lease up; returns whether somebody tried to take it meanwhile."""
        with self._guard:
            if self._held.get(lease.match_id) is lease:
                del self._held[lease.match_id]
        return bool(self._scripts.run(RELEASE, self._keys(lease.match_id), [lease.token, lease.match_id]))

    def _keys(self, match_id: str) -> list[str]:
        return [keys.asking(match_id), keys.asked(f"bots:{match_id}"), keys.ASKING]
