"""Identifies clients of the TCP door by a name; a registered name, or the operator's setting, also requires a login."""

from __future__ import annotations

from dataclasses import dataclass, replace

import structlog

from battlebot.arena.live.turnedaway import Knock, Proof
from battlebot.arena.names.directory import Directory
from battlebot.arena.names.lookalikes import forms
from battlebot.config import Settings
from battlebot.errors import BadMessage, BadName, LoginFailed, TooMany
from battlebot.runtime.cooperative import in_turn_if_large
from battlebot.runtime.lag import Lag
from battlebot.transports.limits import NewNames
from battlebot.transports.stays import Stays
from battlebot.transports.tcp_frames import Packet, TcpConnection
from battlebot.wire.duel import GAME, Error, Salt, decode_username
from battlebot.wire.login import Login, new_secret

log = structlog.get_logger()

NAMES_WITHOUT_HASH = 1  # reserved names that a connection may send without a login_hash: it may not have read the salt


@dataclass(frozen=True, slots=True)
class Caller:
    """Who has come by a login that arrived at `received_s` (monotonic). `proves` is None for a passwordless name."""

    knock: Knock
    received_s: float
    proves: Proof | None = None


class Logins:
    """`of` runs the first messages of a connection."""

    def __init__(self, settings: Settings, directory: Directory, stays: Stays, lag: Lag) -> None:
        self._settings = settings
        self._directory = directory
        self._stays = stays
        self._lag = lag
        self._new_names = NewNames(settings.registrations_per_hour)

    def of(self, connection: TcpConnection) -> Caller | None:
        """Returns who is there; None if the connection was closed. Raises Gone, Unavailable."""
        left_s = self._lag.deadline(self._settings.login_timeout_s)
        salt = self._ask(connection) if self._settings.tcp_require_login else None
        names = 0
        while (wait_s := left_s()) > 0:
            packet = connection.receive(wait_s)
            if packet is None:
                continue
            in_turn_if_large(packet.payload)
            try:
                caller = self._caller(packet, connection.address, salt)
                if caller is not None:
                    return caller
                names += 1
                if names > NAMES_WITHOUT_HASH:
                    raise LoginFailed("This name needs a login_hash that answers the salt.")
                salt = salt or self._ask(connection)
            except (BadMessage, BadName) as error:
                connection.complain(error)
            except LoginFailed as error:
                self._refuse(connection, error, packet.received_s)
                return None
            except TooMany as error:
                log.info("login.failed", address=connection.address, code="too-many-names", door="tcp")
                connection.close(Error("too-many-names", str(error)))
                return None
        connection.close(
            Error("login-timeout", "No login_hash came in time." if names else "No username came in time.")
        )
        return None

    def _caller(self, packet: Packet, address: str, salt: str | None) -> Caller | None:
        """Returns who says its name; None if that needs a login, and there is no answer to the salt with it.

        Raises BadMessage, BadName, LoginFailed, TooMany, Unavailable.
        """
        said = decode_username(packet.payload)
        login = Login(GAME, said.username, "", protocol=2, keep=True)
        if salt is not None and said.login_hash is not None:
            knock = Knock(replace(login, login_hash=said.login_hash), address, salt)
            with self._stays.looking_up(knock, packet.received_s):
                return Caller(knock, packet.received_s, self._directory.check(knock.login, salt))
        knock = Knock(login, address)
        with self._stays.looking_up(knock, packet.received_s):
            if self.is_reserved(said.username):
                return None
        self._new_names.say(said.username, address)
        return Caller(knock, packet.received_s)

    def is_reserved(self, name: str) -> bool:
        """Returns whether the name needs a login. Raises Unavailable."""
        if self._settings.tcp_require_login:
            return True
        return self._directory.registered(forms(name))

    def _ask(self, connection: TcpConnection) -> str:
        salt = new_secret()
        connection.send(Salt(salt))
        return salt

    def _refuse(self, connection: TcpConnection, error: LoginFailed, received_s: float) -> None:
        self._stays.refuse(connection.address, received_s)
        log.info("login.failed", address=connection.address, code=error.code, door="tcp")
        connection.close(Error(error.code, str(error)))
