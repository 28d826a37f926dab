"""A player at the TCP door: turns the house's updates into the messages of protocol duel-arena. No rules, no Redis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gevent.lock import RLock

from battlebot.arena.player import Player
from battlebot.arena.presence import Holder
from battlebot.arena.traits import Traits
from battlebot.transports.limits import Rate
from battlebot.transports.stays import OURS
from battlebot.transports.tcp_frames import TcpConnection
from battlebot.wire.closing import Closing
from battlebot.wire.duel import GetMove, InvalidMove, Lose, PlayerIsFree, Seen, StartingGame, Win

BOARDS = 2  # against one opponent
LOST_BY_ITS_MOVE = ("invalid", "timeout")


class Guest:
    """One connection whose name is known; the channel of its player.

    `settled`: it has been let in, and knows whether it plays. `busy`: it has asked for an opponent, or plays; until it
    is told that it is free. `waits`: it is in the queue or on its way there, and no update has come since. `seating` is
    held by whoever finds it a seat: two who do so at once would give it two places. `resumes`: it takes back a seat
    whose opponent was named to another connection. `dismissed`: the server ended it for a reason of its own.
    """

    def __init__(self, connection: TcpConnection, holder: Holder, rate: Rate) -> None:
        self.connection = connection
        self.holder = holder
        self.player: Player | None = None
        self.settled = False
        self.busy = False
        self.waits = False
        self.seating = RLock()
        self.resumes = False
        self.dismissed = False
        self.rate = rate
        self.traits = self._traits(BOARDS)
        self._question: tuple[str, int] | None = None
        self._sent: tuple[Any, Any] = (None, None)
        self._series = ""
        self._last: Seen | None = None

    @property
    def name(self) -> str:
        """The player's name."""
        return self.holder.name

    def free(self) -> None:
        """All boards against an opponent are played."""
        self.busy = False
        self.traits = self._traits(BOARDS)
        self.connection.send(PlayerIsFree())

    def owes(self) -> bool:
        """Whether boards of the last series are left, its opponent having gone: then they are played with another."""
        last = self._last
        if last is None or not last.boards_left:
            return False
        self.traits = self._traits(last.boards_left, not last.moved_first)
        return True

    def answers(self, question: object, sent: tuple[Any, Any]) -> int | None:
        """The version that a move for this question is for; None if that is not the open question."""
        if self._question is None or question != self._question[0]:
            return None
        version = self._question[1]
        self._question, self._sent = None, sent
        return version

    def send(self, text: str, on_written: Callable[[float], None] | None = None) -> None:
        """An update of the house's."""
        seen = Seen.decode(text, self.name)
        if seen.answered and not seen.complete and on_written is None:
            # what follows tells that the board is lost
            return
        self._last = seen
        self._announce(seen)
        if seen.complete:
            self._end(seen)
        elif seen.asks:
            self._question, self._sent = (seen.question, seen.version), (None, None)
            self.rate.give_back()
            self.connection.send(GetMove(seen.question, seen.board), on_written)

    def close(self, reason: Closing) -> None:
        """Ends the connection. A client that behaves is told nothing: it would not know the event."""
        if reason in OURS:
            self.dismissed = True
        self.connection.close(how=reason.slug)

    @property
    def held_up(self) -> bool:
        """Whether the client does not read."""
        return self.connection.held_up

    def _announce(self, seen: Seen) -> None:
        self.busy, self.waits = True, False
        if seen.series != self._series:
            self._series = seen.series
            if not self.resumes:
                self.connection.send(StartingGame(seen.against))
        self.resumes = False

    def _end(self, seen: Seen) -> None:
        self._question = None
        if seen.victor == self.name:
            self.connection.send(Win(seen.board))
        elif seen.victor is not None:
            if seen.reason in LOST_BY_ITS_MOVE:
                self.connection.send(InvalidMove(*self._sent, seen.board))
            self.connection.send(Lose(seen.board))
        # of a draw original clients know no event: what follows is the next message

    def _traits(self, boards: int, first: bool | None = None) -> Traits:
        return Traits(stays=True, boards=boards, first=first, passwordless=self.holder.passwordless)
