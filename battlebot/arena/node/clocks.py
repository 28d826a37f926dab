"""The fine clocks of a node's players: one timer per player, and the time-out when a clock has run out."""

from __future__ import annotations

import time
from functools import partial

import structlog

from battlebot.arena.node.host import READING_S, Host
from battlebot.arena.node.player import Player
from battlebot.errors import Unavailable
from battlebot.referee.events import TimedOut
from battlebot.runtime.background import in_background
from battlebot.runtime.timers import Timers

log = structlog.get_logger()

AGAIN_S = 1.0  # before a time-out that could not be committed is tried again


class Clocks:
    """Watches the clocks of players that have been asked."""

    def __init__(self, host: Host, timers: Timers) -> None:
        self._host = host
        self._timers = timers

    def watch(self, player: Player) -> None:
        """Schedules a look at the player's clock for when it runs out: one timer per player, not per turn."""
        if player.asked_s is None:
            return
        # the earliest end: the server's own lateness is added to it
        ends_s = player.asked_s + player.remaining_s + READING_S
        if player.watched_until_s is not None and player.watched_until_s <= ends_s:
            return
        until_s = time.monotonic() + player.remaining_s - player.thinking_s() + READING_S
        if player.watched_until_s is None or until_s < player.watched_until_s:
            player.watched_until_s = until_s
            self._timers.at(until_s, partial(self._look, player, until_s))

    def _look(self, player: Player, watched_until_s: float) -> None:
        if player.watched_until_s != watched_until_s:
            return
        player.watched_until_s = None
        if player.asked_s is None:
            return
        if player.thinking_s() < player.remaining_s + READING_S / 2:
            self.watch(player)
        else:
            in_background(self._over, player, player.asked_s)

    def _over(self, player: Player, asked_s: float) -> None:
        table = player.table
        if table is None:
            return
        with table.lock:
            if player.asked_s == asked_s and player.table is table:
                unread = player.channel.held_up
                event = TimedOut(player.bot, player.asked_version, player.thinking_s(), unread)
                try:
                    self._host.conduct(table, event)
                except Unavailable as error:
                    log.warning("match.timeout_put_off", match=table.match_id, error=str(error))
                    self._timers.at(time.monotonic() + AGAIN_S, partial(self.watch, player))
