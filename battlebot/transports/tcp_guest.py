"""A player at the TCP door: turns the arena's updates into the messages of protocol duel-arena. No rules, no Redis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gevent.lock import RLock

from battlebot.arena.names.presence import Holder
from battlebot.arena.places import Traits
from battlebot.transports.limits import Rate
from battlebot.transports.stays import OURS
from battlebot.transports.tcp_frames import TcpConnection
from battlebot.wire.closing import Closing
from battlebot.wire.duel import GetMove, InvalidMove, Lose, PlayerIsFree, Seen, StartingGame, Win

BOARDS = 2  # against one opponent
LOST_BY_ITS_MOVE = ("invalid", "timeout")


@dataclass(frozen=True, slots=True)
class Arrival:
    """A login that came at `login_s` (monotonic), on the node's `number`th connection."""

    number: int
    login_s: float


class Guest:
    """One connection whose name is known; the channel of its player.

    `settled`: it has been let in, and knows whether it plays. `busy`: it has asked for an opponent or plays, and has
    not been told yet that it is free. `waits`: it is in the queue or about to enter it, and no update has come since.
    `seating` is held while a seat is found for it: otherwise two greenlets could give it two places. `resumes`: it
    takes back a seat, and the opponent was named to an earlier connection. `dismissed`: the server closed it for a
    reason of its own.
    """

    def __init__(self, connection: TcpConnection, holder: Holder, rate: Rate, arrival: Arrival) -> None:
        self.connection = connection
        self.holder = holder
        self.arrival = arrival
        self.settled = False
        self.busy = False
        self.waits = False
        self.seating = RLock()
        self.resumes = False
        self.dismissed = False
        self.rate = rate
        self.traits = Traits(stays=True, boards=BOARDS, passwordless=holder.passwordless)
        self._question: tuple[str, int] | None = None
        self._sent: tuple[Any, Any] = (None, None)
        self._series = ""

    @property
    def name(self) -> str:
        """The player's name."""
        return self.holder.name

    def free(self) -> None:
        """Tells the client that it may ask for an opponent."""
        self.busy = False
        self.connection.send(PlayerIsFree())

    def answers(self, question: object, sent: tuple[Any, Any]) -> int | None:
        """Closes the question and returns the version that a move for it is for; None if it is not the open question.

        `sent` are the coordinates as sent, to be echoed if the move is invalid.
        """
        if self._question is None or question != self._question[0]:
            return None
        version = self._question[1]
        self._question, self._sent = None, sent
        return version

    def send(self, text: str, on_written: Callable[[float], None] | None = None) -> None:
        """Sends what an update of the arena means at this door; `on_written` is called only for a question."""
        seen = Seen.decode(text, self.name)
        if seen.answered and not seen.complete and on_written is None:
            # the next update says that the board is lost
            return
        self._announce(seen)
        if seen.complete:
            self._end(seen)
        elif seen.asks:
            self._question, self._sent = (seen.question, seen.version), (None, None)
            self.rate.give_back()
            self.connection.send(GetMove(seen.question, seen.board), on_written)

    def close(self, reason: Closing) -> None:
        """Ends the connection. Sends no `error`: a client that behaves would not know the event."""
        if reason in OURS:
            self.dismissed = True
        self.connection.close(how=reason.slug)

    @property
    def held_up(self) -> bool:
        """Whether messages wait because the client does not read."""
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
        # original clients know no event for a draw: they get only what follows
