"""TLS in steps: a flood of records that hold no answer ends the connection, rather than everybody else's turn."""

from __future__ import annotations

import hashlib
import hmac
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from test_bots_tls import LOCAL, certificate

from battlebot.stateless.clock import Clock
from battlebot.stateless.http.tls import MOST_SILENT, Tls
from battlebot.stateless.http.waiting import persist

RECORD = 16_384
TICKET = b"\x04\x00\x00\x0f" + struct.pack(">IIB", 7200, 0, 1) + b"\x00" + struct.pack(">H", 1) + b"t" + b"\x00\x00"


def tickets(connection: ssl.SSLSocket, keys: Path) -> Callable[[], bytes]:
    """`record()` is the next record of a TLS 1.3 server's, full of session tickets; it has sent nothing else."""
    name = connection.cipher()[0]  # type: ignore[index]
    digest = hashlib.sha384 if "SHA384" in name else hashlib.sha256
    (secret,) = [
        line.split()[2] for line in keys.read_text().splitlines() if line.startswith("SERVER_TRAFFIC_SECRET_0")
    ]

    def derived(label: bytes, size: int) -> bytes:
        info = struct.pack(">H", size) + bytes([len(label) + 6]) + b"tls13 " + label + b"\x00"
        return hmac.new(bytes.fromhex(secret), info + b"\x01", digest).digest()[:size]

    cipher, start = AESGCM(derived(b"key", 32 if "256" in name else 16)), int.from_bytes(derived(b"iv", 12), "big")
    inner = TICKET * (RECORD // len(TICKET)) + b"\x16"
    head = b"\x17\x03\x03" + struct.pack(">H", len(inner) + 16)
    numbers = iter(range(1_000_000))
    return lambda: head + cipher.encrypt((start ^ next(numbers)).to_bytes(12, "big"), inner, head)


@pytest.fixture
def sides(tmp_path: Path) -> Iterator[tuple[Tls, ssl.SSLSocket, Path]]:
    """Both sides of a connection after its greetings, and the file of its keys."""
    file, keys = certificate(tmp_path), tmp_path / "keys"
    theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    theirs.load_cert_chain(file)
    theirs.num_tickets, theirs.keylog_filename = 0, str(keys)
    theirs.minimum_version = ssl.TLSVersion.TLSv1_3
    one, other = socket.socketpair()
    greeted: list[ssl.SSLSocket] = []
    greeting = threading.Thread(target=lambda: greeted.append(theirs.wrap_socket(other, server_side=True)))
    greeting.start()
    tls = Tls(one, ssl.create_default_context(cafile=str(file)), LOCAL)
    persist(tls, started(20.0), tls.handshake)
    greeting.join(20)
    yield tls, greeted[0], keys
    tls.close()
    greeted[0].close()


def started(limit_s: float) -> Clock:
    """A clock that runs."""
    clock = Clock(limit_s, lambda: 0.0)
    clock.start()
    return clock


def test_what_was_sent_is_received_on_both_sides(sides: tuple[Tls, ssl.SSLSocket, Path]) -> None:
    """More than one step takes; b"" at the end."""
    tls, peer, _ = sides
    question, answer = bytes(range(256)) * 400, b"answer" * 20_000

    def answers() -> None:
        got = b""
        while len(got) < len(question):
            got += peer.recv(65_536)
        assert got == question
        peer.sendall(answer)
        peer.shutdown(socket.SHUT_WR)

    answering = threading.Thread(target=answers)
    answering.start()
    rest = memoryview(question)
    while rest:
        rest = rest[persist(tls, started(20.0), partial(tls.send, rest)) :]
    got = b""
    while data := persist(tls, started(20.0), partial(tls.recv, 65_536)):
        got += data
    assert got == answer
    tls.close()
    answering.join(20)


def test_a_flood_of_records_without_an_answer_ends_the_connection(sides: tuple[Tls, ssl.SSLSocket, Path]) -> None:
    """After few of them, whose cost is the bot's."""
    tls, peer, keys = sides
    record, raw = tickets(peer, keys), socket.socket(fileno=peer.detach())
    sent = 0

    def floods() -> None:
        nonlocal sent
        try:
            while sent < 500:
                raw.sendall(record())
                sent += 1
        except OSError:
            pass

    flooding = threading.Thread(target=floods)
    flooding.start()
    clock = started(20.0)
    with pytest.raises(ssl.SSLError, match="too much came"):
        persist(tls, clock, partial(tls.recv, 65_536))
    tls.close()
    flooding.join(20)
    raw.close()
    assert sent < 500
    assert tls.work_s > 0


def test_an_answer_behind_a_few_such_records_counts(sides: tuple[Tls, ssl.SSLSocket, Path]) -> None:
    """A server may send tickets; what the greetings took is not counted."""
    tls, peer, keys = sides
    record, raw = tickets(peer, keys), socket.socket(fileno=peer.detach())
    for _ in range(MOST_SILENT // RECORD - 1):
        raw.sendall(record())
    raw.shutdown(socket.SHUT_WR)
    clock, charged, before_s = started(20.0), list[float](), tls.work_s
    clock.worked = charged.append  # type: ignore[method-assign]
    assert persist(tls, clock, partial(tls.recv, 65_536)) == b""
    assert sum(charged) == pytest.approx(tls.work_s - before_s)
    raw.close()


@pytest.mark.parametrize("junk", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x15\x03\x03\x00\x02\x02\x50"])
def test_an_answer_counts_whatever_follows_it(sides: tuple[Tls, ssl.SSLSocket, Path], junk: bytes) -> None:
    """Plain text or an alert that is not encrypted, read together with it; after that the connection is broken."""
    tls, peer, _ = sides
    peer.sendall(b"answer")
    raw = socket.socket(fileno=peer.detach())
    raw.sendall(junk)
    assert persist(tls, started(20.0), partial(tls.recv, 65_536)) == b"answer"
    for _ in range(2):
        # not b"", which would be a regular end; OpenSSL 3.5 has the last name for both
        with pytest.raises(ssl.SSLError, match=r"WRONG_VERSION_NUMBER|BAD_RECORD_TYPE|RECORD_LAYER_FAILURE"):
            persist(tls, started(20.0), partial(tls.recv, 65_536))
    raw.close()
