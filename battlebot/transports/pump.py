"""One bot's conversation as in docs/bots.md, over any `Connection`: salt, login, waiting, turns, close."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial

import structlog

from battlebot.arena.live.turnedaway import Knock, Proof
from battlebot.arena.names.directory import Directory
from battlebot.arena.node.player import Player, Terms
from battlebot.arena.node.service import Arena
from battlebot.arena.places import Traits
from battlebot.config import Settings
from battlebot.errors import BadMessage, LoginFailed, Refused, TooMany, Unavailable, UnknownGame
from battlebot.runtime.cooperative import in_turn_if_large
from battlebot.runtime.lag import Lag
from battlebot.transports.connection import Connection, Frame, Gone
from battlebot.transports.limits import ConnectionLimit, Rate
from battlebot.transports.ports import WaitingRoom
from battlebot.transports.stays import OURS, Stays, epoch_of
from battlebot.wire import closing
from battlebot.wire.closing import Closing
from battlebot.wire.jsontext import decode_object, encode
from battlebot.wire.login import Login, authentication_failed, authentication_ok, new_secret
from battlebot.wire.updates import complaint, notice

# a login that the door itself cannot take, such as one that is too large, has failed as any other
UNREADABLE = encode(authentication_failed("This login cannot be read.", BadMessage.code))

log = structlog.get_logger()


class Pump:
    """The conversations of a node and what they share; `converse` runs one."""

    def __init__(self, settings: Settings, directory: Directory, lobby: WaitingRoom, arena: Arena, lag: Lag) -> None:
        self._terms = Terms(lag, self._released)
        self._settings = settings
        self._directory = directory
        self._lobby = lobby
        self._arena = arena
        self._numbers = itertools.count(1)
        self._per_address = ConnectionLimit(settings.max_connections_per_address, "address")
        self._per_bot = ConnectionLimit(settings.max_connections_per_bot, "bot")
        self._stays = Stays(settings, lobby, arena)
        self._counted: dict[Player, ExitStack] = {}  # closed, its connection is counted for its bot no more
        self.connections = 0

    def converse(self, connection: Connection) -> None:
        """Runs a conversation to its end and closes the connection with a code. Never raises."""
        self.connections += 1
        try:
            if self._stays.draining:
                connection.close(closing.RESTARTING)
                return
            with self._per_address.hold(connection.address):
                self._converse(connection)
        except TooMany:
            connection.close(closing.TOO_MANY_CONNECTIONS)
        except Gone:
            pass
        except Unavailable:
            connection.close(closing.UNAVAILABLE)
        except Exception:
            log.exception("pump.failed", address=connection.address)
            connection.close(closing.SERVER_ERROR)
        finally:
            self.connections -= 1

    def drain(self) -> None:
        """Call before the node stops: lets nobody in any more, and closes all players' connections. Returns at once.

        Seats are kept with their clocks stopped. Bots of protocol 2 get a notice before the close.
        """
        self._stays.drain(self._send_away)

    def turn_out(self, known: Mapping[str, str], as_of_s: float) -> None:
        """As `Stays.turn_out`. Raises Unavailable.

        Matches that go on with the old pass_hash keep nobody out who comes with the new one.
        """
        try:
            self._stays.turn_out(known, as_of_s)
        finally:
            for player, counted in list(self._counted.items()):
                if player.barred:
                    counted.close()

    def _released(self, player: Player) -> None:
        """Has a player whose match is over wait for the next one, or closes its connection."""
        if player.gone:
            return
        if not player.login.keep:
            player.channel.close(closing.MATCH_OVER)
            return
        if player.barred:
            player.channel.close(closing.RENEWED)
            return
        self._stays.again(player, self._stays.wait)

    def _send_away(self, player: Player) -> None:
        # empty the seat first: the bot may be back before this connection is closed
        self._arena.orphaned(player, closing.RESTARTING.slug)
        self._lobby.leave(player)
        if player.login.protocol >= 2:
            player.channel.send(notice("This node restarts; connect again at once.", "restart"))
        player.channel.close(closing.RESTARTING)

    def _converse(self, connection: Connection) -> None:
        with ExitStack() as counted:
            logged_in = self._log_in(connection, counted)
            if logged_in is None:
                return
            player, channel = logged_in
            self._counted[player] = counted
            try:
                let_in = player.let_in
                with self._turning_away(let_in.knock, let_in.came_s), self._stays.of(player, channel):
                    self._lobby.enter(player)
                    self._listen(connection, player, channel.rate)
            finally:
                del self._counted[player]
                self._stays.count(player)

    def _count(self, bot: str, counted: ExitStack) -> str:
        """Counts a connection of the bot until `counted` is left; returns what refuses it if there are too many.

        No error, whose traceback holds the caller: all of the connection would stay in memory until the collector runs.

        Before its login is delayed, not after: else any number of them, broken by the bot meanwhile, would have its
        seat one after the other, and its clock would stand still.
        """
        try:
            counted.enter_context(self._per_bot.hold(bot))
        except TooMany as error:
            return str(error)
        return ""

    @contextmanager
    def _turning_away(self, knock: Knock, came_s: float) -> Iterator[None]:
        """Notes that the bot was turned away if the `with` block raises Unavailable; the bot will come back."""
        try:
            yield
        except Unavailable:
            self._stays.turn_away(knock, came_s)
            raise

    def _log_in(self, connection: Connection, counted: ExitStack) -> tuple[Player, _GivingBack] | None:
        """Returns the player and its channel; None if the login has failed or the node stops.

        Raises Gone, and TooMany if the bot has too many connections. Raises Unavailable without a reply to the login:
        an original client that is told `failed` does not come back; one whose connection is closed does.
        """
        salt = new_secret()
        connection.send(encode({"salt": salt}))
        frame = self._login_of(connection)
        received_s = time.monotonic() if frame is None else frame.received_s
        try:
            knock, proves = self._look_up(frame, salt, connection.address)
            login = knock.login
            with self._turning_away(knock, epoch_of(received_s)):
                over = self._lobby.admit(login, connection.address)
        except UnknownGame as error:
            # for its matches it may be put back, or be at another node: no refusal, after which a bot would end
            log.warning("login.without_game", address=connection.address, error=str(error))
            connection.close(closing.UNAVAILABLE)
            return None
        except Refused as error:
            self._stays.refuse(connection.address, received_s)
            log.info("login.failed", address=connection.address, code=error.code)
            connection.send(encode(authentication_failed(str(error), error.code)))
            connection.close(Closing(1008, error.code, "authentication failed"))
            return None
        too_many = self._count(login.bot_id, counted)
        let_in = self._stays.let_in(knock, proves, received_s, lambda: connection.has_ended)
        if self._stays.draining:
            # it logged in too late to be among the players that the drain sends away
            connection.close(closing.RESTARTING)
            return None
        connection.send(encode(authentication_ok(login)))
        channel = _GivingBack(connection, Rate(self._settings.max_messages_per_s))
        player = Player(let_in, channel, str(next(self._numbers)), self._terms, Traits(stays=login.keep))
        if over is not None:
            player.tell_over(over)
        log.info("login.accepted", bot=player.bot, game=login.game, contest=login.contest, protocol=login.protocol)
        if too_many:
            self._stays.count(player)
            raise TooMany(too_many)
        return player, channel

    def _login_of(self, connection: Connection) -> Frame | None:
        """Returns the first frame, which should be a login; None if none came in time. Raises Gone."""
        left_s = self._terms.lag.deadline(self._settings.login_timeout_s)
        connection.parting = UNREADABLE
        while (wait_s := left_s()) > 0:
            frame = connection.receive(wait_s)
            if frame is not None:
                connection.parting = None
                return frame
        return None

    def _look_up(self, frame: Frame | None, salt: str, address: str) -> tuple[Knock, Proof]:
        if frame is None:
            raise LoginFailed("No login came in time.")
        if frame.text is None:
            raise BadMessage("A login is a text frame of JSON.")
        in_turn_if_large(frame.text)
        knock = Knock(Login.decode(frame.text, self._settings.max_nesting), address, salt)
        with self._stays.looking_up(knock, frame.received_s):
            return knock, self._directory.check(knock.login, salt)

    def _listen(self, connection: Connection, player: Player, rate: Rate) -> None:
        # a program that thinks without reading answers no ping; its clock ends the wait
        connection.excuses = lambda: player.asked_s is not None
        try:
            while True:
                frame = connection.receive(None)
                if frame is None:
                    continue
                if not rate.take():
                    connection.close(closing.TOO_MANY_MESSAGES)
                    raise Gone(clean=True, how=closing.TOO_MANY_MESSAGES.slug)
                self._turn(player, frame)
        finally:
            # else the two would keep one another until the collector runs
            connection.excuses = None

    def _turn(self, player: Player, frame: Frame) -> None:
        turn, refusal = None, "A turn is a text frame."
        if frame.text is not None:
            try:
                turn = decode_object(frame.text, self._settings.max_nesting)
            except BadMessage as error:
                refusal = str(error)
        failed = partial(_complain, player)
        if self._arena.offered(player, turn, frame.received_s, refusal, failed):
            return
        try:
            self._arena.turned(player, turn, frame.received_s, refusal)
        except Unavailable as error:
            failed(error)


def _complain(player: Player, error: Unavailable) -> None:
    # its clock is stopped, and it is asked again when Redis is back; an original client just waits
    if player.login.protocol >= 2:
        player.channel.send(complaint(str(error), error.code))


class _GivingBack:
    """The player's channel: each message to the bot allows one more from it, by `rate`.

    `dismissed`: the server closed it for a reason of its own, through no fault of the bot.
    """

    def __init__(self, connection: Connection, rate: Rate) -> None:
        self._connection = connection
        self.rate = rate
        self.dismissed = False

    def send(self, text: str, on_written: Callable[[float], None] | None = None) -> None:
        self.rate.give_back()
        self._connection.send(text, on_written)

    @property
    def held_up(self) -> bool:
        return self._connection.held_up

    def close(self, reason: Closing) -> None:
        if reason in OURS:
            self.dismissed = True
        self._connection.close(reason)
