"""In which times the missing bots of a contest could have come in: a bot is not charged for the others."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from battlebot.arena.live.addresses import Addresses
from battlebot.arena.live.cutoff import CutOff
from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.places import STATELESS, WEB
from battlebot.matchmaking.missing import Chance
from battlebot.storage.bots import Bots


@dataclass
class Chances:
    """What is known of doors, cut-off places and addresses. Every method raises Unavailable.

    A bot could not have come in while its door was shut (of a stateless bot: while nobody took attendance), nor, after
    an outage, for `grace_s`; while it was cut off at a node that was taken for dead, or held back because its node may
    be dead; if it is stateless, while its address is asked in `bot_matches` matches. Not so if it moved there while the
    contest ran: its owner would have chosen an address that was filled to hold the contest up.
    """

    heartbeats: Heartbeats
    cut_off: CutOff
    addresses: Addresses
    bots: Bots
    grace_s: float
    bot_matches: int

    def of(
        self,
        missing: Collection[str],
        queue: str,
        places: Iterable[tuple[str, str]],
        runs_since: datetime | None,
        now_s: float,
    ) -> dict[str, Chance]:
        """Returns the chance of each missing bot.

        `places`: (bot, place) of all that wait in the queue or play. `runs_since`: when the contest began to run,
        if that is known.
        """
        cut = self.cut_off.times(queue, places, now_s, self.grace_s)
        addresses = self.bots.asked(sorted(missing))
        busy = self.addresses.busy(addresses.values())
        # bots of contests come in at the WebSocket door; stateless ones are brought in
        web, asked = self._at_door(WEB, now_s), self._at_door(STATELESS, now_s)
        kept_out = asked._replace(shut=(*asked.shut, (0.0, now_s)))
        full = {bot for bot, address in addresses.items() if busy[address] >= self.bot_matches}
        if runs_since is not None:
            full -= self.bots.moved(sorted(full), runs_since)
        chances = dict[str, Chance]()
        for bot in missing:
            if bot in addresses:
                chances[bot] = kept_out if bot in full else asked
            else:
                chances[bot] = web._replace(shut=(*web.shut, cut[bot])) if bot in cut else web
        return chances

    def _at_door(self, door: str, now_s: float) -> Chance:
        shown = self.heartbeats.shown(door, now_s)
        open_s = shown.open_s
        shut = [(outage.since_s, outage.until_s + self.grace_s) for outage in shown.outages]
        if open_s is None:
            shut.append((0.0, now_s))
        # whether bots could come in since then is known when there is another heartbeat
        return Chance(now_s if open_s is None else min(now_s, open_s), tuple(shut))
