"""How a bot comes in, waits again and leaves, the same at every door. What it is sent meanwhile is up to the door."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

import gevent
import structlog

from battlebot.arena.live.turnedaway import Knock, Proof
from battlebot.arena.live.turnedawayhere import TurnedAwayHere
from battlebot.arena.node.player import Channel, LetIn, Player
from battlebot.arena.node.service import Arena
from battlebot.config import Settings
from battlebot.errors import Unavailable
from battlebot.runtime import sharedtime
from battlebot.runtime.background import in_background
from battlebot.transports.connection import Gone
from battlebot.transports.limits import ReloginBackoff
from battlebot.transports.ports import WaitingRoom
from battlebot.wire import closing
from battlebot.wire.login import Login, hash_fits

log = structlog.get_logger()

# after a login's arrival: a cached bot is looked up faster than an unknown one, and a refusal must not show which
REFUSED_AFTER_S = 0.1

AGAIN_S = 0.5  # between two attempts to have a player wait

# closes for the server's own reasons
OURS = frozenset({closing.RESTARTING, closing.UNAVAILABLE, closing.SERVER_ERROR})


class DoorsChannel(Channel, Protocol):
    """A player's channel. `dismissed`: it was closed for one of `OURS`, through no fault of the bot."""

    dismissed: bool


class Stays:
    """`players` are those of a node at one door. `draining`: nobody is let in any more."""

    def __init__(self, settings: Settings, lobby: WaitingRoom, arena: Arena) -> None:
        self.players: set[Player] = set()
        self.draining = False
        self._lobby = lobby
        self._arena = arena
        self._relogin_backoff = ReloginBackoff(settings.relogin_free, settings.relogin_delay_max_s)
        self._turned_away_here = TurnedAwayHere()
        self._entering: dict[Player, gevent.Greenlet] = {}

    def refuse(self, address: str, received_s: float) -> None:
        """Waits until a failed login, which arrived at `received_s` (monotonic), may be answered, and counts it."""
        peer = f"\0{address}"  # no bot's name holds a control character
        gevent.sleep(max(self._relogin_backoff.delay_s(peer), received_s + REFUSED_AFTER_S - time.monotonic()))
        self._relogin_backoff.fruitless(peer)

    def let_in(self, knock: Knock, proves: Proof | None, received_s: float, has_ended: Callable[[], bool]) -> LetIn:
        """Delays a bot that keeps logging in; its login arrived at `received_s` (monotonic).

        The delay is the bot's own fault and charged to it: the moment from which it counts as connected is later by
        that much. If the server turned the bot away shortly before, when it wanted to play there, the moment is earlier
        instead, by the time for which it was kept out.

        Raises Gone if its connection `has_ended()` during the delay: a seat would be taken only to be left again.
        """
        bot = knock.login.bot_id
        arrived_s, delay_s = epoch_of(received_s), self._relogin_backoff.delay_s(bot)
        gevent.sleep(delay_s)
        if delay_s and has_ended():
            self._relogin_backoff.fruitless(bot)
            raise Gone(clean=False, how="broken")
        away_s = self._turned_away_here.let_in(_wanted(knock.login), arrived_s)
        came_s = arrived_s - away_s if away_s else arrived_s + min(delay_s, time.monotonic() - received_s)
        return LetIn(knock, proves, came_s)

    def turn_away(self, knock: Knock, came_s: float) -> None:
        """Notes that the server could not let a bot in: the time since it came, at `came_s` (epoch), is not charged."""
        self._turned_away_here.note(_wanted(knock.login), came_s)
        self._arena.turned_away(knock, came_s)

    @contextmanager
    def looking_up(self, knock: Knock, received_s: float) -> Iterator[None]:
        """Notes for all nodes that the bot was kept out, if the `with` block, which looks it up, raises Unavailable.

        The login arrived at `received_s` (monotonic).
        """
        try:
            yield
        except Unavailable:
            self._arena.turned_away(knock, epoch_of(received_s))
            raise

    def count(self, player: Player) -> None:
        """Notes whether the player played a match on its connection, which is over; delays later logins if not.

        A match that the server spoilt does not count: a game with a mistake would spoil one after the other.
        """
        if player.played_matches:
            self._relogin_backoff.played(player.bot)
        else:
            self._relogin_backoff.fruitless(player.bot)

    @contextmanager
    def of(self, player: Player, channel: DoorsChannel) -> Iterator[None]:
        """Registers the player for the `with` block, then tells the arena and the lobby that it has left, and how.

        Gone says how the connection ended; any other exception is the server's fault. Both are raised again.
        """
        clean, how = False, "error"
        self.players.add(player)
        try:
            yield
        except Gone as gone:
            clean, how = gone.clean, gone.how
            raise
        except Exception:
            channel.dismissed = True
            raise
        finally:
            self._part(player, channel, clean, how)

    def _part(self, player: Player, channel: DoorsChannel, clean: bool, how: str) -> None:
        self.players.discard(player)
        player.gone = True
        entering = self._entering.pop(player, None)
        if entering is not None:
            entering.join()  # otherwise its ticket might appear after `leave`
        # the arena first: Redis may be slow to take the ticket away, and a match may begin with it meanwhile
        if channel.dismissed:
            self._arena.orphaned(player, how)
            # who is turned away, as Redis hangs, learns it without waiting for Redis again
            in_background(self._lobby.leave, player)
        else:
            self._arena.left(player, clean, how)
            self._lobby.leave(player)

    def again(self, player: Player, enter: Callable[[Player], None]) -> None:
        """Has a player whose match is over wait for the next one, as `entering` does.

        If the server has spoilt one match after the other, the player rests before, as if it had logged in anew.
        """
        rest_s = 0.0
        if player.was_spoilt:
            self._relogin_backoff.fruitless(player.bot)
            rest_s = self._relogin_backoff.delay_s(player.bot)
        self.entering(player, enter, rest_s)

    def entering(self, player: Player, enter: Callable[[Player], None], rest_s: float = 0.0) -> None:
        """Calls `enter(player)` after `rest_s`, and as long as it raises Unavailable and the player is here, again.

        If it raises anything else, closes the player's connection. Returns at once, as the caller may be the greenlet
        that reads the bot's messages.
        """
        self._entering[player] = gevent.spawn(_enter_after, rest_s, player, enter)

    def wait(self, player: Player, may_take: bool = True) -> None:
        """Has a player that keeps its connection wait for a match, as `WaitingRoom.enter` does; never raises.

        If Redis does not answer, the player waits all the same: the lobby's ticks tell Redis when it is back.
        """
        try:
            self._lobby.enter(player, may_take)
        except Unavailable as error:
            log.warning("waiting.put_off", bot=player.bot, error=str(error))

    def turn_out(self, known: Mapping[str, str], as_of_s: float) -> None:
        """Bars players who logged in with another pass_hash than their bot had at `as_of_s` (monotonic), as in `known`.

        Not those let in since: it may have been changed again, and theirs be right. Who waits is closed; a match goes
        on to its end. Raises Unavailable.
        """
        for player in list(self.players):
            pass_hash, knock = known.get(player.bot), player.let_in.knock
            if pass_hash is None or player.let_in.proves is None or player.let_in_s > as_of_s:
                continue
            player.barred = not hash_fits(knock.login.login_hash, pass_hash, knock.salt)
        # only now: Redis may not answer, and meanwhile matches end
        for player in [one for one in self.players if one.barred]:
            self._lobby.dismiss(player, closing.RENEWED)

    def drain(self, send_away: Callable[[Player], None]) -> list[gevent.Greenlet]:
        """Lets nobody in any more, and starts a greenlet per player that calls `send_away(player)`; returns these."""
        self.draining = True
        self._arena.drain()
        log.info("node.drains", players=len(self.players))
        return [gevent.spawn(send_away, player) for player in self.players]


def epoch_of(moment_s: float) -> float:
    """Returns a moment of the monotonic clock as a time (epoch)."""
    return sharedtime.now_s() - (time.monotonic() - moment_s)


def _enter_after(rest_s: float, player: Player, enter: Callable[[Player], None]) -> None:
    if rest_s:
        gevent.sleep(rest_s)
    is_put_off = False
    while not player.gone:
        try:
            enter(player)
            return
        except Unavailable as error:
            if not is_put_off:
                log.warning("waiting.put_off", bot=player.bot, error=str(error))
            is_put_off = True
        except Exception:
            log.exception("waiting.failed", bot=player.bot)
            player.channel.close(closing.SERVER_ERROR)
            return
        gevent.sleep(AGAIN_S)


def _wanted(login: Login) -> str:
    """A key for the bot and where it wants to play: what kept it out of one contest keeps it out of no other match."""
    return "\0".join((login.game, login.contest or "", login.bot_id))
