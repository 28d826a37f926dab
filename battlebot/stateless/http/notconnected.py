"""Why no connection to an HTTP bot could be made, and whether that was the server's own failure."""

from __future__ import annotations

import errno
import socket
import ssl

from battlebot.stateless.http.location import Location

# errors of this machine, not of the bot
OURS = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EADDRNOTAVAIL, errno.ENETDOWN)


class NotConnected(Exception):
    """A connection could not be made: a code, a sentence, and whether the server itself failed (`ours`)."""

    def __init__(self, code: str, sentence: str, ours: bool = False) -> None:
        super().__init__(sentence)
        self.code, self.ours = code, ours


def of_destination(error: OSError | ValueError, family: int, destination: tuple[str, int]) -> OSError:
    """Returns the error of a connection to this destination; one like "no route" if none can go there from here.

    The system's own error is the same as when all ports are in use, which is not the bot's fault: its owner could
    point its name at an IPv6 address, where the server has no IPv6, in each match that it is about to lose.
    """
    if not isinstance(error, OSError):
        return OSError(str(error))
    if error.errno == errno.EADDRNOTAVAIL and not _has_source(family, destination):
        return OSError(errno.ENETUNREACH, "Network is unreachable")
    return error


def _has_source(family: int, destination: tuple[str, int]) -> bool:
    """Whether this machine has an address from which it could reach the destination. Sends nothing: this is UDP."""
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(destination)
    except OSError as error:
        return error.errno != errno.EADDRNOTAVAIL
    return True


def not_connected(location: Location, failure: OSError | None, limit_s: float) -> NotConnected:
    """Returns what to raise when the last attempt ended so; None: `limit_s` was over before there was one."""
    where = f"{location.host}:{location.port}"
    if failure is None or isinstance(failure, TimeoutError):
        return NotConnected("unreachable", f"No connection to {where} within {limit_s:g} s.")
    if isinstance(failure, ssl.SSLCertVerificationError):
        why = failure.verify_message.rstrip(".")
        return NotConnected("bad-certificate", f"The certificate of {where} is not valid: {why}.")
    if isinstance(failure, ssl.SSLError):
        # an error that OpenSSL has not made has no `reason`
        why = getattr(failure, "reason", failure.strerror) or "it speaks no TLS"
        return NotConnected("bad-tls", f"No TLS connection to {where}: {why}.")
    if failure.errno in OURS:
        return NotConnected("server", f"This server could open no connection ({failure.strerror}).", ours=True)
    return NotConnected("unreachable", f"No connection to {where}: {failure.strerror or failure}.")
