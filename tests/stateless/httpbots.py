"""Real bots behind HTTP for tests: one server, whose path says how it behaves. It counts what it is asked."""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from typing import Any

import pytest

# the parts of an answer that may go on for ever without being its body; and the body
FLOODS = {
    "extension": (b"Transfer-Encoding: chunked\r\n\r\n1;", b"x"),
    "zeros": (b"Transfer-Encoding: chunked\r\n\r\n", b"0"),
    "trailer": (b"Transfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\nX-Note: ", b"x"),
    "body": (b"\r\n[", b" "),
}


class Bots(ThreadingHTTPServer):
    """`url(behaviour)` is a bot; `asked[behaviour]` how often it was asked, `questions` what was last asked."""

    daemon_threads = True
    request_queue_size = 200

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: Counter[str] = Counter()
        self.questions: dict[str, Any] = {}
        self.headers: dict[str, Any] = {}
        self.keep: Callable[[Any], object] = lambda question: None  # is given every question
        self.connections = 0
        self.hanging = threading.Event()  # set: hanging bots go on
        self.broken = threading.Event()  # set: wavering bots fail

    def url(self, behaviour: str, host: str = "127.0.0.1") -> str:
        """Returns the address of a bot that behaves so; a `host` is another name of this machine."""
        return f"http://{host}:{self.server_port}/{behaviour}"

    def get_request(self) -> tuple[socket.socket, Any]:
        self.connections += 1
        return super().get_request()

    def handle_error(self, *_: Any) -> None:
        """Prints nothing when a bot dies."""


class OneAtATime(Bots):
    """Serves one connection until it ends or has been idle for long, and only then the next."""

    def process_request(self, request: Any, client_address: Any) -> None:
        request.settimeout(20.0)
        HTTPServer.process_request(self, request, client_address)


class Handler(BaseHTTPRequestHandler):
    """One connection to the bots."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: Bots
    served = False

    def do_POST(self) -> None:
        behaviour = self.path.strip("/").split("/")[0].split("?")[0]
        if behaviour == "deaf":
            # it does not read the question
            self.server.hanging.wait(60)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked[behaviour] += 1
        self.server.questions[behaviour] = question = json.loads(body)
        self.server.keep(question)
        self.server.headers[behaviour] = dict(self.headers)
        getattr(self, f"be_{behaviour}")(question)

    def be_good(self, question: Any) -> None:
        """Does nothing, whatever the state of the cube."""
        self.answer(json.dumps(_nothing(question)).encode())

    def be_counting(self, question: Any) -> None:
        """Plays numberwang, whoever wins."""
        self.answer(json.dumps({"n": 3}).encode())

    def be_marking(self, question: Any) -> None:
        """Plays noughts and crosses: the first free space."""
        state = question["state"]
        mark = next(mark for mark, bot in state["marks"].items() if bot == question["bot_id"])
        free = next([y, x] for y in range(3) for x in range(3) if not state["board"][y][x])
        self.answer(json.dumps({"mark": mark, "space": free}).encode())

    def be_wavering(self, question: Any) -> None:
        """Plays connect four, always column 0; fails while `broken` is set."""
        self.answer(json.dumps({"column": 0}).encode(), 500 if self.server.broken.is_set() else 200)

    def be_lame(self, question: Any) -> None:
        """Fails while `broken` is set, except in a cube of the default size, with which bots are tested."""
        fails = self.server.broken.is_set() and question["gameInfo"]["edgeLength"] != 8
        self.answer(json.dumps(_nothing(question)).encode(), 500 if fails else 200)

    def be_slow(self, question: Any) -> None:
        time.sleep(0.3)
        self.be_good(question)

    def be_stalling(self, question: Any) -> None:
        """Is slow from the second question on, and hangs up silently when asked again over the same connection."""
        if self.server.asked["stalling"] > 1:
            time.sleep(0.6)
        if self.served:
            self.close_connection = True
        else:
            self.served = True
            self.be_good(question)

    def be_idle(self, question: Any) -> None:
        """Asked again over the same connection, closes it after a while with a 408, as if the question crossed it."""
        if self.served:
            time.sleep(0.3)
            self.answer(b"", 408)
            self.close_connection = True
        else:
            self.served = True
            self.be_good(question)

    def be_impatient(self, question: Any) -> None:
        self.answer(b"", 408)

    def be_hanging(self, question: Any) -> None:
        self.server.hanging.wait(60)
        self.be_good(question)

    def be_dribbling(self, question: Any) -> None:
        """Sends a byte now and then, for ever."""
        self.head(200, 10_000)
        while not self.server.hanging.wait(0.1):
            self.wfile.write(b"[")
            self.wfile.flush()

    def be_deaf(self, question: Any) -> None:
        """Does not read the question (see `do_POST`), and never answers."""

    def be_trickling(self, question: Any) -> None:
        """Under TLS: sends one long record, byte by byte."""
        with socket.socket(fileno=os.dup(self.connection.fileno())) as plain:
            plain.sendall(b"\x17\x03\x03\x40\x00")
            while not self.server.hanging.wait(0.01):
                plain.sendall(b"x")

    def be_flooding(self, question: Any) -> None:
        """Sends an endless answer faster than it can be read; the path says what it consists of."""
        begins, rest = FLOODS[self.path.strip("/").split("/")[1]]
        self.connection.sendall(b"HTTP/1.1 200 OK\r\n" + begins)
        while not self.server.hanging.is_set():
            # in one system call, during which no Python runs
            self.connection.sendall(rest * 100_000_000)

    def be_crumbled(self, question: Any) -> None:
        """Sends a long answer in chunks of one byte."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        self.wfile.write(b"1\r\n[\r\n" + b"1\r\n \r\n" * 60_000 + b"1\r\n]\r\n0\r\n\r\n")

    def be_dying(self, question: Any) -> None:
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def be_broken(self, question: Any) -> None:
        """Ends its answer by the end of the connection, but resets that."""
        self.be_old(question)
        self.reset()

    def be_restarting(self, question: Any) -> None:
        """Resets a kept connection, as if its process had been killed."""
        if self.served:
            self.reset()
        else:
            self.served = True
            self.be_good(question)

    def be_vanishing(self, question: Any) -> None:
        """Resets the connection after its answer once `broken` is set, which is counted."""
        self.be_good(question)
        self.wfile.flush()
        self.server.broken.wait(60)
        self.reset()
        self.server.asked["vanished"] += 1

    def be_clinging(self, question: Any) -> None:
        """Goes on with the connection even if it was asked to close it."""
        self.be_good(question)
        self.close_connection = False

    def be_cut(self, question: Any) -> None:
        self.head(200, 1000)
        self.wfile.write(b"[{")
        self.close_connection = True

    def be_lying(self, question: Any) -> None:
        self.answer(b'[{"task": "MOVE", "direction": "+W"}]')

    def be_garbled(self, question: Any) -> None:
        self.answer(b"[{task: NOOP}]")

    def be_huge(self, question: Any) -> None:
        self.answer(b"[" + b" " * 2_000_000 + b"]")

    def be_headed(self, question: Any) -> None:
        self.head(200, 2, **{f"X-{number}": "x" * 1000 for number in range(50)})
        self.wfile.write(b"[]")

    def be_failing(self, question: Any) -> None:
        self.answer(json.dumps(_nothing(question)).encode(), 500)

    def be_created(self, question: Any) -> None:
        self.answer(json.dumps(_nothing(question)).encode(), 201)

    def be_moved(self, question: Any) -> None:
        self.head(302, 0, Location=self.server.url("good"))

    def be_old(self, question: Any) -> None:
        """HTTP/1.0: the end of the connection is the end of the answer."""
        self.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n" + json.dumps(_nothing(question)).encode())
        self.close_connection = True

    def be_chunked(self, question: Any) -> None:
        body = json.dumps(_nothing(question)).encode()
        self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for at in range(len(body)):
            self.wfile.write(b"1\r\n" + body[at : at + 1] + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def be_twice(self, question: Any) -> None:
        self.be_good(question)
        self.be_good(question)

    def be_insisting(self, question: Any) -> None:
        """Answers, and sends another answer as soon as the next question arrives over the same connection."""
        self.be_good(question)
        self.wfile.flush()
        if self.connection.recv(1, socket.MSG_PEEK):
            self.answer(b"[]")

    def be_far(self, question: Any) -> None:
        """Places bombs outside the cube, further away than 64 bits can express."""
        bombs = [{"task": "PLACE_BOMB", "x": 2**63, "y": 2**64, "z": 10**30}]
        self.answer(json.dumps(bombs * question["gameInfo"]["numOfTasksPerTick"]).encode())

    def be_closing(self, question: Any) -> None:
        """Closes the connection after each answer without announcing it."""
        self.be_good(question)
        self.close_connection = True

    def be_binary(self, question: Any) -> None:
        self.wfile.write(b"\x00\x01\x02 not HTTP at all\r\n\r\n")
        self.close_connection = True

    def head(self, status: int, length: int, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def answer(self, body: bytes, status: int = 200) -> None:
        self.head(status, len(body))
        self.wfile.write(body)

    def reset(self) -> None:
        """Ends the connection by RST once the handler has returned."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Logs nothing."""


def _nothing(question: Any) -> list[dict[str, str]]:
    count = question.get("gameInfo", {}).get("numOfTasksPerTick", 1)
    return [{"task": "NOOP"}] * count


@contextmanager
def http_bots(kind: type[Bots] = Bots) -> Iterator[Bots]:
    """Yields the running server."""
    bots = kind()
    threading.Thread(target=bots.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield bots
    finally:
        bots.hanging.set()
        bots.shutdown()
        bots.server_close()


def leads_to(monkeypatch: pytest.MonkeyPatch, name: str, addresses: Sequence[str]) -> None:
    """Has a name resolve to these addresses, in this order."""
    real = socket.getaddrinfo

    def resolve(host: Any, port: Any, *arguments: Any, **named: Any) -> Any:
        rows = [real(address, port, *arguments, **named) for address in (addresses if host == name else [host])]
        return [row for found in rows for row in found]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
