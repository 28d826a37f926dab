"""What there is for one waiting player: a seat of its own, a match, others to play against, or a place in the queue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from battlebot.arena.live.casual import CasualMatches
from battlebot.arena.live.mail import freed
from battlebot.arena.live.queue import BY_A_TASK, Begun, Manner, Plays, Queues, Seats, Taken, Ticket, Waits
from battlebot.arena.live.store import MatchStore
from battlebot.arena.node.player import Player
from battlebot.arena.node.service import Arena
from battlebot.arena.places import node_of
from battlebot.errors import Unavailable
from battlebot.matchmaking.doubts import Doubts
from battlebot.matchmaking.waiters import Waiters, WaitingPlayer
from battlebot.rules.contract import Game

log = structlog.get_logger()


@dataclass
class Search:
    """For the players of a node's lobby, whose `waiters` and `doubts` it keeps up to date.

    `ask_pairing(game, contest)` as in `Lobby`.
    """

    registry: Mapping[str, Game]
    store: MatchStore
    queues: Queues
    casual: CasualMatches
    ask_pairing: Callable[[str, str], None]
    arena: Arena
    waiters: Waiters
    doubts: Doubts
    _late: list[WaitingPlayer] = field(default_factory=list)  # whose tickets could not be taken out of their queues

    def wait(
        self,
        player: Player,
        *,
        look_for_seats: bool,
        may_take: bool = True,
        hold: bool = False,
        hold_for: str = "",
    ) -> None:
        """Gives the player what there is for it, or has it wait. Raises Unavailable.

        Without `may_take` it waits to be taken along by others. `hold`: it is held back if its bot plays on another
        connection, which may be broken. `hold_for`: it is held back for this match, even if that is over.
        """
        login, waiter = player.login, WaitingPlayer.of(player)
        by_task = login.contest is not None or not may_take
        wanted = BY_A_TASK if by_task else self.registry[login.game].usual_players - 1
        by_name = bool(player.traits.boards)
        manner = Manner(
            look_for_seats=look_for_seats,
            by_name=by_name,
            # a door that knows its players' connections takes seats over; only one that it cannot take is in doubt,
            # such as one in a match that this node cannot read
            hold_if_playing=hold and not (look_for_seats and by_name),
            hold_for=hold_for,
        )
        found = self.queues.wait(waiter.queue, waiter.ticket, wanted, manner)
        # a seat that is found may be none for this player, who is then held back on
        if not isinstance(found, Plays | Seats):
            self.doubts.dispel(waiter.place)
        match found:
            case Plays(match_id):
                self.doubts.note(waiter.place, match_id)
            case Seats(match_ids):
                if not self._sits_down(player, match_ids):
                    self.wait(player, look_for_seats=False, may_take=may_take, hold=hold, hold_for=hold_for)
            case _ if player.table is not None or player.gone:
                self._needs_no_match(waiter, found)
            case Begun(match_id):
                self.arena.look_for(match_id, player)
            case Taken(others):
                self._pair(waiter, others)
            case Waits():
                self._waits(waiter, found)

    def _sits_down(self, player: Player, match_ids: Sequence[str]) -> bool:
        """Gives the player the first of these seats that is still there for it; returns False if none is."""
        # a door that knows its players by name finds held seats, too; elsewhere the seat was empty a moment ago: if
        # it is no more, another connection of the bot has come for it
        if_empty = not player.traits.boards
        if not any(self.arena.join(player, match_id, if_empty=if_empty) for match_id in match_ids):
            return False
        self.sits(player)
        return True

    def _needs_no_match(self, waiter: WaitingPlayer, found: Begun | Taken | Waits) -> None:
        """Takes out a player that is gone, or sits: the tick and its own `enter` may both have asked for it."""
        self.sits(waiter.player)
        if isinstance(found, Taken):
            self._give_back(waiter, found.others)

    def _pair(self, waiter: WaitingPlayer, others: Sequence[Ticket]) -> None:
        waiting = [(one.bot, one.place) for one in (waiter.ticket, *others)]
        game = self.registry[waiter.player.login.game]
        self.casual.begin(game, waiting, waiter.queue, waiter.ticket.text)

    def _waits(self, waiter: WaitingPlayer, found: Waits) -> None:
        login = waiter.player.login
        if found.ask_pairing and login.contest is not None:
            self.ask_pairing(login.game, login.contest)
        elif found.left_out:
            self.waiters.overlook([waiter.place])

    def _give_back(self, waiter: WaitingPlayer, others: Sequence[Ticket]) -> None:
        """Gives back tickets taken along by a player that needs no match; other nodes are told by a letter."""
        try:
            self.queues.give_back(waiter.ticket, others)
            for other in others:
                node = node_of(other.place)
                if node == self.arena.node:
                    self._wait_on(other.place)
                else:
                    self.store.post(node, freed(other.place))
        except Unavailable as error:
            # the tickets are held for a while, then the ticks of their nodes put them back
            log.warning("tickets.given_back_late", bot=waiter.ticket.bot, error=str(error))

    def freed(self, place: str) -> None:
        """Has the player at the place, whose ticket was taken along and given back, wait on."""
        try:
            self._wait_on(place)
        except Unavailable as error:
            # the tick puts it back
            log.warning("tickets.given_back_late", place=place, error=str(error))

    def _wait_on(self, place: str) -> None:
        for waiter in self.waiters.at([place]):
            self.wait(waiter.player, look_for_seats=False)

    def take_out(self, waiter: WaitingPlayer) -> None:
        """Takes the player's ticket out of its queue; `retry` does if Redis does not answer."""
        try:
            self.queues.leave(waiter.queue, waiter.ticket)
        except Unavailable:
            self._late.append(waiter)

    def take_out_later(self, waiters: Iterable[WaitingPlayer]) -> None:
        """Has `retry` take out the tickets of these."""
        self._late += waiters

    def retry(self) -> None:
        """Call every second: takes out the tickets that could not be taken out before."""
        late, self._late = self._late, []
        for waiter in late:
            self.take_out(waiter)

    def sits(self, player: Player) -> None:
        """Takes out a player that has a seat: its ticket, which the tick may have put back, must not win it another."""
        self.waiters.remove(player)
        self.take_out(WaitingPlayer.of(player))
