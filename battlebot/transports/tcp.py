"""The TCP door: gomoku for clients of the original duel arena (docs/tcp.md). Has its own conversation, but no rules."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from functools import partial

import gevent
import structlog
from gevent import socket
from gevent.server import StreamServer

from battlebot.arena.names.directory import Directory
from battlebot.arena.names.presence import Holder, Presence
from battlebot.arena.node.player import Player, Terms
from battlebot.arena.node.service import Arena
from battlebot.arena.places import connection_at
from battlebot.config import Settings
from battlebot.errors import BadMessage, TooMany, Unavailable
from battlebot.runtime.background import in_background
from battlebot.runtime.lag import Lag
from battlebot.transports.connection import Gone
from battlebot.transports.limits import Places, Rate
from battlebot.transports.ports import WaitingRoom
from battlebot.transports.stays import Stays
from battlebot.transports.tcp_frames import TcpConnection
from battlebot.transports.tcp_guest import Guest
from battlebot.transports.tcp_login import Logins
from battlebot.wire.addresses import household
from battlebot.wire.closing import RESTARTING, TAKEN_OVER
from battlebot.wire.duel import GAME, Error, FindOpponent, MakeMove, Ok, decode_request

log = structlog.get_logger()

NOTE_ONLINE_S = 30.0  # between two notes of how long players have been online
BACKLOG = 1024
ACCEPTED_AT_ONCE = 16  # connections in one round of the hub, as in embedded/webworker.py: those who play go first
UNREADABLE = "x and y must be whole numbers."


class TcpDoor:
    """The conversations of a node at this door; `serve` opens it.

    `attendance(stays)` notes of each `(name, since_ms, seconds)` that the connection that began at `since_ms` (epoch)
    has lasted `seconds` so far; it may raise Unavailable.
    """

    def __init__(
        self,
        settings: Settings,
        directory: Directory,
        names: Presence,
        lobby: WaitingRoom,
        arena: Arena,
        lag: Lag,
        attendance: Callable[[Sequence[tuple[str, int, float]]], None],
    ) -> None:
        self._settings = settings
        self._names = names
        self._lobby = lobby
        self._arena = arena
        self._terms = Terms(lag, self._released, unforgiving=True)
        self._attendance = attendance
        self._numbers = itertools.count(1)
        self._per_address = Places(settings.max_connections_per_address, "address")
        self._stays = Stays(settings, lobby, arena)
        self._logins = Logins(settings, directory, self._stays, lag)
        self._guests: dict[Player, Guest] = {}
        self._given_up: list[Holder] = []
        self._noted_s = time.monotonic()
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
        sent_away = self._stays.drain(self._send_away)
        if self._server is not None:
            self._server.stop_accepting()
        gevent.joinall(sent_away)

    def expel(self, connection: str) -> None:
        """Closes `connection` (`node/number`), if it is here: another one has taken its name."""
        for player, guest in list(self._guests.items()):
            if guest.holder.connection == connection and not player.gone:
                log.info("tcp.taken_over", bot=guest.name)
                # it may be about to take a seat, which now belongs to the later connection
                player.gone = True
                guest.close(TAKEN_OVER)

    def tick(self) -> None:
        """Call every second: makes up for lost letters, and notes who is online. Raises Unavailable."""
        given_up, self._given_up = self._given_up, []
        for holder in given_up:
            self._give_up(holder)
        guests = list(self._guests.items())
        answers = self._names.confirm([guest.holder for _, guest in guests])
        for (player, guest), (own, match_id) in zip(guests, answers, strict=True):
            if player not in self._guests:
                # it left meanwhile: its name may have been given up first, and then been confirmed
                self._given_up.append(guest.holder)
            elif not own:
                guest.close(TAKEN_OVER)
            elif match_id is not None and _lacks_seat(player, guest):
                gevent.spawn(self._seat, player, guest, match_id)
        if time.monotonic() - self._noted_s >= NOTE_ONLINE_S:
            self._noted_s = time.monotonic()
            self._names.drop_dead()
            self._note(*(guest for _, guest in guests))

    def _released(self, player: Player) -> None:
        """Tells a player whose boards against an opponent are over that it is free.

        Also if the second board falls away because the opponent plays one match only.
        """
        guest = self._guests.get(player)
        if guest is not None and not player.gone:
            guest.free()

    def _on_connection(self, sock: socket.socket, address: tuple[str, int]) -> None:
        connection = TcpConnection(sock, self._settings, household(address[0]))
        self.connections += 1
        try:
            if not self._stays.draining:
                with self._per_address.hold(connection.address):
                    self._converse(connection)
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

    def _converse(self, connection: TcpConnection) -> None:
        caller = self._logins.of(connection)
        if caller is None:
            return
        let_in = self._stays.let_in(caller.knock, caller.proves, caller.received_s)
        if self._stays.draining:
            # closed without a message, like those who connect now
            return
        number, name, passwordless = f"t{next(self._numbers)}", caller.knock.login.bot_id, caller.proves is None
        holder = Holder(name, connection_at(self._arena.node, number), int(time.time() * 1000), passwordless)
        guest = Guest(connection, holder, Rate(self._settings.max_messages_per_s))
        player = Player(let_in, guest, number, self._terms, guest.traits)
        try:
            self._stay(player, guest)
        except Unavailable:
            # only now, because until `_stay` has cleaned up the client does not learn that it is turned away
            if not guest.settled:
                self._stays.turn_away(let_in.knock, let_in.came_s)
            raise

    def _stay(self, player: Player, guest: Guest) -> None:
        self._guests[player] = guest
        give_up = self._give_up
        try:
            with self._stays.of(player, guest):
                self._take_part(player, guest)
        except Unavailable:
            # who is turned away, as Redis hangs, learns it without waiting for Redis again
            give_up = partial(in_background, self._give_up)
            raise
        finally:
            del self._guests[player]
            give_up(guest.holder)
            self._note(guest)
            self._stays.count(player)

    def _take_part(self, player: Player, guest: Guest) -> None:
        claimed = self._names.claim(guest.holder)
        if claimed.before is not None:
            # a connection of this node is closed at once; the letter, which may be late, is for other nodes
            self.expel(claimed.before.connection)
        log.info("login.accepted", bot=guest.name, game=GAME, door="tcp", passwordless=guest.holder.passwordless)
        guest.connection.send(Ok())
        guest.resumes = True
        if not any(self._take_seat(player, match_id) for match_id in claimed.matches):
            guest.resumes = False
            guest.free()
        guest.settled = True
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
            [(own, _)] = self._names.confirm([guest.holder])
            if not own:
                guest.close(TAKEN_OVER)
            elif not player.gone:
                self._enter(player)

    def _enter(self, player: Player) -> None:
        delay_s = self._settings.tcp_pairing_delay_s
        self._stays.wait(player, may_take=not delay_s)
        if delay_s:
            gevent.spawn_later(delay_s, self._look_again, player)

    def _look_again(self, player: Player) -> None:
        guest = self._guests.get(player)
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
        player.new_place(self._arena.node, time.time())
        return self._arena.join(player, match_id, live)

    def _send_away(self, player: Player) -> None:
        # the ticket first: if a board begins with it meanwhile, only this connection is told who the opponent is
        self._lobby.leave(player)
        # empty the seat before closing: the player may be back before this connection is closed
        self._arena.orphaned(player, RESTARTING.slug)
        player.channel.close(RESTARTING)

    def _give_up(self, holder: Holder) -> None:
        try:
            self._names.give_up(holder)
        except Unavailable:
            self._given_up.append(holder)

    def _note(self, *guests: Guest) -> None:
        now_s = time.time()
        begun = [(guest.name, guest.holder.since_ms) for guest in guests]
        try:
            self._attendance([(name, since_ms, max(0.0, now_s - since_ms / 1000)) for name, since_ms in begun])
        except Unavailable as error:
            # the next note includes this time
            log.warning("tcp.online_not_noted", players=len(guests), error=str(error))


def _lacks_seat(player: Player, guest: Guest) -> bool:
    """Returns whether a player with a live match has no seat in it, because a letter is lost or late."""
    return guest.settled and player.table is None and not (player.gone or guest.waits)
