"""The TCP door: gomoku for clients of the original duel arena (docs/tcp.md). Has its own conversation, but no rules."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import partial

import gevent
import structlog
from gevent import socket
from gevent.server import StreamServer

from battlebot.arena.names.directory import Directory
from battlebot.arena.names.presence import Holder
from battlebot.arena.node.player import Player, Terms
from battlebot.arena.node.service import Arena
from battlebot.arena.places import connection_at
from battlebot.config import Settings
from battlebot.errors import BadMessage, TooMany, Unavailable
from battlebot.runtime import sharedtime
from battlebot.runtime.lag import Lag
from battlebot.transports.connection import Gone
from battlebot.transports.limits import ConnectionLimit, Rate
from battlebot.transports.ports import WaitingRoom
from battlebot.transports.stays import Stays
from battlebot.transports.tcp_frames import TcpConnection
from battlebot.transports.tcp_guest import Arrival, Guest
from battlebot.transports.tcp_guests import Guests
from battlebot.transports.tcp_login import Logins
from battlebot.wire.addresses import household
from battlebot.wire.closing import RENEWED, RESTARTING, TAKEN_OVER
from battlebot.wire.duel import GAME, Error, FindOpponent, MakeMove, Ok, decode_request

log = structlog.get_logger()

BACKLOG = 1024
ACCEPTED_AT_ONCE = 16  # connections in one round of the hub, as in embedded/webworker.py: those who play go first
UNREADABLE = "x and y must be whole numbers."


class TcpDoor:
    """The conversations of a node at this door; `serve` opens it."""

    def __init__(
        self,
        settings: Settings,
        directory: Directory,
        guests: Guests,
        lobby: WaitingRoom,
        arena: Arena,
        lag: Lag,
    ) -> None:
        self._settings = settings
        self._guests = guests
        self._lobby = lobby
        self._arena = arena
        self._terms = Terms(lag, self._released, unforgiving=True)
        self._numbers = itertools.count(1)
        self._per_address = ConnectionLimit(settings.max_connections_per_address, "address")
        self._stays = Stays(settings, lobby, arena)
        self._logins = Logins(settings, directory, self._stays, lag)
        self._server: StreamServer | None = None
        self.connections = 0

    def serve(self) -> None:
        """Opens the door until `drain`, and returns. Raises OSError if the port cannot be opened."""
        address = (self._settings.host, self._settings.tcp_port)
        most = self._settings.max_connections
        self._server = StreamServer(address, self._on_connection, backlog=BACKLOG, spawn=most)
        self._server.max_accept = ACCEPTED_AT_ONCE
        self._server.start()
        log.info("tcp.open", host=self._settings.host, port=self._server.server_port)

    def drain(self) -> None:
        """Call before the node stops: lets nobody in any more, and closes all players' connections.

        Seats are kept with their clocks stopped, so that players can go on at another node.
        """
        # first: who comes back must be refused, so that a proxy passes it on to another node
        if self._server is not None:
            self._server.close()
        gevent.joinall(self._stays.drain(self._send_away))

    def tick(self) -> None:
        """Call every second: makes up for lost letters, and notes who is online. Raises Unavailable."""
        for player, guest, match_id in self._guests.look():
            if _lacks_seat(player, guest):
                gevent.spawn(self._seat, player, guest, match_id)
        self._guests.note_online()

    def turn_out(self, known: Mapping[str, str], as_of_s: float) -> None:
        """As `Stays.turn_out`; who has not asked for an opponent is closed, too. Raises Unavailable."""
        self._stays.turn_out(known, as_of_s)
        for player in [one for one in self._stays.players if one.barred]:
            guest = self._guests.of(player)
            if guest is None:
                continue
            with guest.seating:
                if guest.settled and not guest.busy and player.table is None:
                    guest.close(RENEWED)

    def _released(self, player: Player) -> None:
        """Tells a player whose boards against an opponent are over that it is free, or closes its connection.

        Also if the second board falls away because the opponent plays one match only.
        """
        guest = self._guests.of(player)
        if guest is None or player.gone:
            return
        if player.barred:
            guest.close(RENEWED)
        else:
            guest.free()

    def _on_connection(self, sock: socket.socket, address: tuple[str, int]) -> None:
        connection = TcpConnection(sock, self._settings, household(address[0]))
        number = next(self._numbers)
        self.connections += 1
        try:
            if not self._stays.draining:
                with self._per_address.hold(connection.address):
                    self._converse(connection, number)
        except TooMany as error:
            connection.close(Error("too-many-connections", str(error)))
        except Gone:
            pass
        except Unavailable as error:
            # no `error` is sent: a client that behaves would not know the event
            log.warning("tcp.turned_away", address=connection.address, error=str(error))
        except Exception:
            log.exception("tcp.failed", address=connection.address)
        finally:
            connection.finish()
            self.connections -= 1

    def _converse(self, connection: TcpConnection, number: int) -> None:
        caller = self._logins.of(connection)
        if caller is None:
            return
        let_in = self._stays.let_in(caller.knock, caller.proves, caller.received_s, lambda: connection.has_ended)
        if self._stays.draining:
            # closed without a message, like those who connect now
            return
        place, name, passwordless = f"t{number}", caller.knock.login.bot_id, caller.proves is None
        holder = Holder(name, connection_at(self._arena.node, place), int(sharedtime.now_s() * 1000), passwordless)
        arrival = Arrival(number, caller.received_s)
        guest = Guest(connection, holder, Rate(self._settings.max_messages_per_s), arrival)
        player = Player(let_in, guest, place, self._terms, guest.traits)
        try:
            self._stay(player, guest)
        except Unavailable:
            # only now, because until `_stay` has cleaned up the client does not learn that it is turned away
            if not guest.settled:
                self._stays.turn_away(let_in.knock, let_in.came_s)
            raise

    def _stay(self, player: Player, guest: Guest) -> None:
        self._guests.add(player, guest)
        wait = True
        try:
            with self._stays.of(player, guest):
                self._take_part(player, guest)
        except Unavailable:
            # who is turned away, as Redis hangs, learns it without waiting for Redis again
            wait = False
            raise
        finally:
            self._guests.remove(player, wait)
            self._stays.count(player)

    def _take_part(self, player: Player, guest: Guest) -> None:
        matches = self._guests.claim(guest)
        if matches is None:
            guest.close(TAKEN_OVER)
            raise Gone(clean=True, how=TAKEN_OVER.slug)
        log.info("login.accepted", bot=guest.name, game=GAME, door="tcp", passwordless=guest.holder.passwordless)
        guest.connection.send(Ok())
        guest.resumes = True
        if not any(self._take_seat(player, match_id) for match_id in matches):
            guest.resumes = False
            guest.free()
        guest.settled = True
        self._serve(player, guest)

    def _serve(self, player: Player, guest: Guest) -> None:
        """Does what the client asks for until its connection is gone: then raises Gone."""
        while True:
            packet = guest.connection.receive(None)
            if packet is None:
                continue
            if not guest.rate.take():
                guest.connection.close(Error("rate", "Too many messages a second."), "rate")
                raise Gone(clean=True, how="rate")
            try:
                request = decode_request(packet.payload)
            except BadMessage as error:
                guest.connection.complain(error)
                continue
            if isinstance(request, FindOpponent):
                self._find(player, guest)
            else:
                self._move(player, guest, request, packet.received_s)

    def _find(self, player: Player, guest: Guest) -> None:
        if guest.busy:
            return
        with guest.seating:
            if guest.busy:
                # meanwhile it was given a seat
                return
            guest.busy = guest.waits = True
        self._stays.entering(player, partial(self._look_for_opponent, guest))

    def _look_for_opponent(self, guest: Guest, player: Player) -> None:
        """Has the player wait, unless its name is not its own any more. Raises Unavailable if that is not known."""
        if guest.holder.passwordless and self._logins.is_reserved(guest.name):
            # somebody has registered the name meanwhile
            sentence = "This name is registered by now; it needs its login."
            guest.connection.close(Error("name-taken", sentence), "name-taken")
            return
        with guest.seating:
            if player.barred:
                guest.close(RENEWED)
            elif not self._guests.is_own(guest):
                guest.close(TAKEN_OVER)
            elif not player.gone:
                self._enter(player)

    def _enter(self, player: Player) -> None:
        delay_s = self._settings.tcp_pairing_delay_s
        self._stays.wait(player, may_take=not delay_s)
        if delay_s:
            gevent.spawn_later(delay_s, self._look_again, player)

    def _look_again(self, player: Player) -> None:
        guest = self._guests.of(player)
        if guest is None or player.gone:
            return
        try:
            self._lobby.look_again(player)
        except Unavailable:
            gevent.spawn_later(1.0, self._look_again, player)

    def _move(self, player: Player, guest: Guest, move: MakeMove, received_s: float) -> None:
        version = guest.answers(move.id, move.sent)
        if version is None:
            return
        turn: dict[str, object] | None = None if move.x is None or move.y is None else {"x": move.x, "y": move.y}
        try:
            self._arena.turned(player, turn, received_s, UNREADABLE, version)
        except Unavailable as error:
            # its clock is stopped, and it is asked again, with the same id, when Redis is back
            log.warning("tcp.move_put_off", bot=guest.name, error=str(error))

    def _seat(self, player: Player, guest: Guest, match_id: str) -> None:
        try:
            with guest.seating:
                self._arena.look_after(match_id)
                if _lacks_seat(player, guest):
                    self._take_seat(player, match_id, live=True)
        except Unavailable as error:
            log.warning("tcp.seat_put_off", bot=guest.name, error=str(error))

    def _take_seat(self, player: Player, match_id: str, live: bool = False) -> bool:
        player.new_place(self._arena.node, sharedtime.now_s())
        return self._arena.join(player, match_id, live)

    def _send_away(self, player: Player) -> None:
        # the ticket first: if a board begins with it meanwhile, only this connection is told who the opponent is
        self._lobby.leave(player)
        # empty the seat before closing: the player may be back before this connection is closed
        self._arena.orphaned(player, RESTARTING.slug)
        player.channel.close(RESTARTING)


def _lacks_seat(player: Player, guest: Guest) -> bool:
    """Returns whether a player with a live match has no seat in it, because a letter is lost or late."""
    return guest.settled and player.table is None and not (player.gone or guest.waits)
