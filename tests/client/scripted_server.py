"""A real WebSocket and HTTP server that follows a test's scripts: one script per connection, in order."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any

from simple_websocket import ConnectionClosed, Server
from werkzeug.serving import make_server

PASS_HASH = "ab" * 32
SALT = "cd" * 32
PATIENCE_S = 10.0

Message = dict[str, Any]


class Line:
    """One connection, as a script sees it."""

    def __init__(self, websocket: Server) -> None:
        self._websocket = websocket

    def say(self, *messages: Message | str) -> None:
        """Send messages; a string goes as it is."""
        for message in messages:
            self._websocket.send(message if isinstance(message, str) else json.dumps(message))

    def hear(self, timeout_s: float = PATIENCE_S) -> Message:
        """Return the bot's next message; AssertionError if none comes in time."""
        text = self._websocket.receive(timeout=timeout_s)
        assert text is not None, "the bot sent nothing"
        return json.loads(text)

    def hears_nothing(self, for_s: float = 0.3) -> None:
        """Assert that the bot sends nothing."""
        text = self._websocket.receive(timeout=for_s)
        assert text is None, f"the bot sent {text}"

    def login(self) -> Message:
        """Send salt and "OK"; return the login that came between."""
        self.say({"salt": SALT})
        login = self.hear()
        assert login["login_hash"] == hashlib.sha256((PASS_HASH + SALT).encode()).hexdigest()
        self.say({"authentication": "OK", "game": login["game"], "bot_id": login["bot_id"]})
        return login

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Close with a code, unless the bot has done so, and wait until the bot is gone."""
        with contextlib.suppress(ConnectionClosed):
            self._websocket.close(code, reason)
        self._websocket.thread.join(PATIENCE_S)

    def drop(self) -> None:
        """Cut the connection without a close frame."""
        self._websocket.sock.shutdown(socket.SHUT_RDWR)
        self._websocket.thread.join(PATIENCE_S)

    def bot_closes(self) -> int:
        """Wait for the bot to close; return its close code."""
        try:
            text = self._websocket.receive(timeout=PATIENCE_S)
        except ConnectionClosed as closed:
            return int(closed.reason)
        raise AssertionError(f"the bot sent {text}" if text else "the bot did not close")


class ScriptedServer:
    """Listens on 127.0.0.1. `answers` maps (method, path) to (status, body) for requests that are not WebSockets."""

    def __init__(self, *scripts: Callable[[Line], None], tls: ssl.SSLContext | None = None) -> None:
        self.scripts = list(scripts)
        self.answers: dict[tuple[str, str], tuple[str, str]] = {}
        self.requests: list[tuple[str, str, str]] = []
        self.errors: list[BaseException] = []
        self._ended: list[threading.Event] = []
        logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
        self._server = make_server("127.0.0.1", 0, self._serve, threaded=True, ssl_context=tls)
        self._server.daemon_threads = True
        self.host = f"localhost:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening; raise the first error of a script."""
        self._server.shutdown()
        self._server.server_close()
        for ended in self._ended:
            assert ended.wait(PATIENCE_S), "a script does not end"
        if self.errors:
            raise self.errors[0]
        assert not self.scripts, f"{len(self.scripts)} scripts saw no connection"

    def _serve(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterator[bytes] | list[bytes]:
        if environ.get("HTTP_UPGRADE", "").lower() != "websocket" or ("GET", environ["PATH_INFO"]) in self.answers:
            return self._answer(environ, start_response)
        ended = threading.Event()
        self._ended.append(ended)
        websocket = Server.accept(environ)
        try:
            if not self.scripts:
                websocket.close(1008, "unexpected: the script has no more connections")
                raise AssertionError("the bot connected once too often")
            self.scripts.pop(0)(Line(websocket))
        except Exception as error:
            self.errors.append(error)
        finally:
            if websocket.connected:
                websocket.close()
            ended.set()
        raise ConnectionError  # tells werkzeug that the socket is ours

    def _answer(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        length = int(environ.get("CONTENT_LENGTH") or 0)
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        self.requests.append((method, path, environ["wsgi.input"].read(length).decode()))
        status, body = self.answers.get((method, path), ("404 Not Found", "<p>nothing here"))
        start_response(status, [("Content-Type", "application/json")])
        return [body.encode()]


def update(
    version: int,
    next_player: str | None = "Me",
    *,
    match: str = "m1",
    turn: Message | None = None,
    strikes: int = 0,
    remaining_ms: int = 3000,
    **state: Any,
) -> Message:
    """Returns an update of a match between Me and You, as the server sends it."""
    message: Message = {
        "state": {"players": ["Me", "You"], "nextPlayer": next_player, "complete": False, "board": {"n": 0}, **state},
        "match": {
            "id": match,
            "version": version,
            "turnTimeoutMs": 3000,
            "remainingMs": remaining_ms,
            "strikes": strikes,
        },
    }
    if turn is not None:
        message["turn"] = {"player": "Me", "time": 1, "valid": True, **turn}
    return message


def final(version: int, victor: str | None = "Me", **more: Any) -> Message:
    """Returns the last update of a match."""
    return update(version, "You", complete=True, victor=victor, reason="complete", **more)
