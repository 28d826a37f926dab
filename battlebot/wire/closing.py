"""How a connection ends: the close codes and the reasons in the close frame. No sockets.

The codes are RFC 6455's own, without later additions such as 1012 and 1013: WebSocket libraries of the time of the
original client raise an error for those. So programs go by the slug.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_REASON_BYTES = 123  # RFC 6455, section 5.5: a control frame's payload is at most 125 bytes


@dataclass(frozen=True, slots=True)
class Closing:
    """A close code (RFC 6455, section 7.4) with a stable slug and a sentence."""

    status: int
    slug: str = ""
    sentence: str = ""

    @property
    def reason(self) -> str:
        """`slug: sentence`, cut to the size of a close frame."""
        text = f"{self.slug}: {self.sentence}" if self.slug else self.sentence
        return text.encode()[:MAX_REASON_BYTES].decode(errors="ignore")


MATCH_OVER = Closing(1000)
NOBODY_CAME = Closing(1000, "nobody-came", "no opponent came; connect again when you like")
TAKEN_OVER = Closing(1008, "taken-over", "the bot took its seat with another connection")
RENEWED = Closing(1008, "login-failed", "the bot has another pass_hash now")
TOO_BIG = Closing(1009, "too-big", "a message is larger than this server takes")
TOO_MANY_MESSAGES = Closing(1008, "rate", "too many messages a second")
TOO_MANY_CONNECTIONS = Closing(1008, "too-many-connections", "too many connections; close one and try again later")
SLOW_READER = Closing(1008, "slow-reader", "too many updates wait unread")
SILENT = Closing(1008, "silent", "no pong came")
PROTOCOL_ERROR = Closing(1002, "protocol-error", "this is not WebSocket")
RESTARTING = Closing(1001, "restart", "this node restarts; connect again at once")
UNAVAILABLE = Closing(1011, "unavailable", "the server cannot answer now; try again later")
SERVER_ERROR = Closing(1011, "error", "an error of the server's own")
