"""One WebSocket connection to the server: opens it, logs in, exchanges JSON objects. Knows nothing of matches."""

from __future__ import annotations

import contextlib
import json
import ssl
from typing import Any

import websocket

from battlebot.client.address import Address
from battlebot.client.credentials import Credentials
from battlebot.client.errors import ConnectionLost, LoginFailed, Refused, Unreachable
from battlebot.wire.login import login_hash

OPEN_TIMEOUT_S = 10.0
# where a match waits: a proxy may have chosen a node that hangs, and chooses another next time
OPEN_IN_MATCH_S = 2.0
LOGIN_TIMEOUT_S = 20.0  # a server slows down bots that reconnect too often
CLOSE_TIMEOUT_S = 1.0
# a proxy from the environment cannot reach this machine's loopback; the library heeds exceptions only beside a proxy
NO_PROXY: dict[str, Any] = {"http_proxy_host": "none", "http_proxy_port": 1, "http_no_proxy": ["*"]}
REDIRECTED = "Redirect limit exhausted"  # how the library says it: it has no class and no status for that
# codes of a failed login that are not the bot's fault: trying again later helps
PASSING = frozenset({"unavailable", "conflict", "too-many"})


class Connection:
    """An open WebSocket. A context manager: on exit it closes with 1000."""

    def __init__(
        self, address: Address, tls: ssl.SSLContext | None = None, open_timeout_s: float = OPEN_TIMEOUT_S
    ) -> None:
        """Connect. Raises ConnectionLost if trying again may help, Unreachable if it cannot."""
        url = address.websocket_url
        try:
            self._socket = websocket.create_connection(
                url,
                timeout=open_timeout_s,
                sslopt={"context": tls or ssl.create_default_context()} if address.secure else None,
                suppress_origin=True,
                redirect_limit=0,  # a redirect could lead from TLS to plain text
                **(NO_PROXY if address.local else {}),
            )
        except ssl.SSLCertVerificationError as error:
            raise Unreachable(f"The certificate of {url} is not trusted: {error.verify_message}.") from None
        except ssl.SSLError as error:
            if error.reason == "WRONG_VERSION_NUMBER":
                raise Unreachable(f"{url} does not speak TLS; for plain text write ws://{address.netloc}.") from None
            raise ConnectionLost(None, f"cannot connect to {url}: {error}") from None
        except websocket.WebSocketBadStatusException as error:
            status: int | None = error.status_code  # there is none if the answer begins with an empty line
            if status is None or (status < 500 and status != 429):
                raise Unreachable(f"{url} answered {status or 'without a status'}: no Battlebot server.") from None
            raise ConnectionLost(None, f"{url} answered {status}") from None
        except websocket.WebSocketException as error:
            if str(error) == REDIRECTED:
                raise Unreachable(f"{url} redirects elsewhere: give the server's own address, as https://...") from None
            raise ConnectionLost(None, f"cannot connect to {url}: {error}") from None
        except OSError as error:
            raise ConnectionLost(None, f"cannot connect to {url}: {error}") from None
        except ValueError as error:
            raise Unreachable(f"The proxy that the environment names is no address: {error}.") from None

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close(timeout=CLOSE_TIMEOUT_S)
        self._socket.shutdown()

    def login(self, credentials: Credentials, extras: dict[str, Any]) -> None:
        """Read the salt, prove the pass_hash, read the answer; `extras` are added to the login message.

        Raises LoginFailed, Refused, Unreachable or ConnectionLost.
        """
        salt = self._expect("salt")["salt"]
        proof = login_hash(credentials.pass_hash, salt)
        self.send({"game": credentials.game, "bot_id": credentials.bot_id, "login_hash": proof, **extras})
        reply = self._expect("authentication")
        if reply["authentication"] == "OK":
            return
        code = str(reply.get("code") or "login-failed")
        sentence = str(reply.get("error") or "The server does not accept this login.")
        if code in PASSING:
            raise ConnectionLost(1008, f"{code}: {sentence}")
        raise LoginFailed(code, sentence) if code == "login-failed" else Refused(code, sentence)

    def send(self, message: dict[str, Any]) -> None:
        """Send one JSON object. Raises ValueError, TypeError or RecursionError if it is not JSON.

        A broken connection is not raised here but by `receive`, so that the server's last messages are read first.
        """
        text = json.dumps(message, allow_nan=False, ensure_ascii=False)
        text.encode()  # a lone surrogate is a ValueError, too: the server would not take it for JSON
        self._socket.settimeout(OPEN_TIMEOUT_S)
        with contextlib.suppress(OSError, websocket.WebSocketException):
            self._socket.send(text)

    def receive(self, timeout_s: float) -> dict[str, Any] | None:
        """Return the next JSON object, an empty one for a ping or a pong, or None after `timeout_s` without a message.

        Raises ConnectionLost, or Unreachable if the message is not a JSON object.
        """
        self._socket.settimeout(max(timeout_s, 0.001))  # 0 would make the socket non-blocking
        try:
            opcode, frame = self._socket.recv_data_frame(control_frame=True)
        except websocket.WebSocketTimeoutException:
            return None
        except (OSError, websocket.WebSocketException) as error:
            raise ConnectionLost(None, f"the connection broke: {error}") from None
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            raise ConnectionLost(int.from_bytes(frame.data[:2]) or 1005, frame.data[2:].decode(errors="replace"))
        if opcode != websocket.ABNF.OPCODE_TEXT:
            return {}
        try:
            message = json.loads(frame.data)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            raise Unreachable("The server sent something that is not a JSON object: no Battlebot server.")
        return message

    def ping(self) -> None:
        """Send a ping. Raises ConnectionLost."""
        try:
            self._socket.ping()
        except (OSError, websocket.WebSocketException) as error:
            raise ConnectionLost(None, f"the connection broke: {error}") from None

    def _expect(self, key: str) -> dict[str, Any]:
        message: dict[str, Any] | None = {}
        while message == {}:
            message = self.receive(LOGIN_TIMEOUT_S)
        if message is None:
            raise ConnectionLost(None, f"the server sent no {key!r} in {LOGIN_TIMEOUT_S:g} s")
        if not isinstance(message.get(key), str):
            raise Unreachable(f"The server sent no {key!r} where one must come: no Battlebot server.")
        return message
