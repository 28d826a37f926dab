"""Bots behind HTTPS: the connection goes to the address that was checked, the certificate is held to the name."""

from __future__ import annotations

import datetime
import gc
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from httpbots import Bots, OneAtATime, http_bots, leads_to
from leftoverasker import left_of

from battlebot.stateless.asking import Question
from battlebot.stateless.http.bots import HttpBots
from battlebot.stateless.http.guard import Guard

NAME = "bots.example"
LOCAL = "localhost"  # a name of this machine for other processes
SHORT_RECORD = b"\x16\x03\x03\x00\x01\x00"  # with one byte of a greeting
LONG_KB = 20_000  # more than what the network takes at once
ASKER = Path(__file__).with_name("tlsasker.py")


def certificate(folder: Path) -> Path:
    """A file with a certificate for NAME and LOCAL, signed by itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME), x509.DNSName(LOCAL)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = folder / "bots.pem"
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(*form))
    return file


@pytest.fixture(params=[Bots])
def behind_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Bots]:
    """Bots that speak TLS, whose certificate is trusted; every name leads to this machine."""
    file = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    real = socket.getaddrinfo

    def resolve(host: Any, *arguments: Any, **named: Any) -> Any:
        return real("127.0.0.1" if str(host).endswith(".example") else host, *arguments, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with http_bots(request.param) as bots:
        bots.names = []  # type: ignore[attr-defined]
        bots.greeted = lambda: None  # type: ignore[attr-defined]

        def greeted(_: Any, name: str, __: Any) -> None:
            bots.names.append(name)  # type: ignore[attr-defined]
            bots.greeted()  # type: ignore[attr-defined]

        context.sni_callback = greeted
        bots.socket = context.wrap_socket(bots.socket, server_side=True, do_handshake_on_connect=False)
        yield bots


def asked(url: str, by: HttpBots | None = None, limit_s: float = 10.0) -> Any:
    """The reply."""
    by = by or HttpBots(Guard(loopback=True), 65_536, 16)
    return by.ask(Question(url, "battlecube", "match", "bot", {"gameInfo": {"numOfTasksPerTick": 1}}, limit_s))


@pytest.mark.usefixtures("kept_long")
def test_a_bot_behind_tls_is_asked_by_its_name(behind_tls: Bots) -> None:
    """In the greeting and in the Host header, though its address was looked up before; the connection is kept."""
    by = HttpBots(Guard(loopback=True), 65_536, 16)
    for _ in range(3):
        assert asked(f"https://{NAME}:{behind_tls.server_port}/good", by).value == [{"task": "NOOP"}]
    assert behind_tls.names == [NAME]  # type: ignore[attr-defined]
    assert behind_tls.headers["good"]["Host"] == f"{NAME}:{behind_tls.server_port}"
    assert behind_tls.connections == 1


@pytest.mark.parametrize("behind_tls", [OneAtATime], indirect=True)
def test_bots_behind_tls_that_are_served_by_one_connection_at_a_time_are_asked_at_once(behind_tls: Bots) -> None:
    """Who waits for its turn waits for the server's greeting already."""
    by = HttpBots(Guard(loopback=True), 65_536, 16)
    with ThreadPoolExecutor(3) as pool:
        for _ in range(2):
            urls = [f"https://{NAME}:{behind_tls.server_port}/{one}" for one in ("good", "good/2", "slow")]
            assert [reply.value for reply in pool.map(lambda url: asked(url, by), urls)] == [[{"task": "NOOP"}]] * 3
    asked(f"https://{NAME}:{behind_tls.server_port}/dying", by)


def test_what_the_server_is_late_in_the_midst_of_the_greetings_is_not_the_bots_failure(
    behind_tls: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here it says that all of the time was its own."""
    monkeypatch.setattr("battlebot.stateless.http.connections.CONNECT_S", 0.2)
    behind_tls.greeted = lambda: time.sleep(0.5)  # type: ignore[attr-defined]
    by = HttpBots(Guard(loopback=True), 65_536, 16, time.monotonic)
    assert asked(f"https://{NAME}:{behind_tls.server_port}/good", by).value == [{"task": "NOOP"}]


def test_a_name_whose_first_address_does_not_greet_is_reached_at_its_second(
    behind_tls: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first takes the connection and says nothing."""
    port = behind_tls.server_port
    leads_to(monkeypatch, NAME, ["127.0.0.2", "127.0.0.1"])
    with socket.create_server(("127.0.0.2", port)):
        assert asked(f"https://{NAME}:{port}/good").value == [{"task": "NOOP"}]


def test_an_address_has_time_to_greet_however_many_there_are(behind_tls: Bots, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not given up, to be tried once more after the others."""
    monkeypatch.setattr("battlebot.stateless.http.connections.LEAST_CONNECT_S", 3.5)
    behind_tls.greeted = lambda: time.sleep(0.5)  # type: ignore[attr-defined]
    leads_to(monkeypatch, NAME, [f"127.0.0.{last}" for last in range(1, 100)])
    assert asked(f"https://{NAME}:{behind_tls.server_port}/good").value == [{"task": "NOOP"}]
    assert behind_tls.connections == 1


def test_a_bot_whose_time_is_over_is_not_asked_again(behind_tls: Bots) -> None:
    """It hangs up, and greets so slowly then that nothing of its time is left."""
    by, url = HttpBots(Guard(loopback=True), 65_536, 16), f"https://{NAME}:{behind_tls.server_port}/stalling"
    assert asked(url, by).value == [{"task": "NOOP"}]
    behind_tls.greeted = lambda: time.sleep(1.0)  # type: ignore[attr-defined]
    failure = asked(url, by, 1.0).failure
    assert (failure.code, failure.late, behind_tls.asked["stalling"]) == ("timeout", True, 2)


def asked_by_greenlets(url: str, limit_s: float, size_kb: int) -> Any:
    """The answer, or the code of the failure, that a process of greenlets has; and how long the bot took."""
    arguments = [sys.executable, "-m", "gevent.monkey", str(ASKER), url, str(limit_s), str(size_kb)]
    return orjson.loads(subprocess.run(arguments, stdout=subprocess.PIPE, timeout=30, check=True).stdout)


def test_a_bot_behind_tls_is_asked_by_greenlets(behind_tls: Bots) -> None:
    """With a long question."""
    found, _ = asked_by_greenlets(f"https://{LOCAL}:{behind_tls.server_port}/slow", 20.0, LONG_KB)
    assert found == [{"task": "NOOP"}]


@pytest.mark.parametrize(("behaviour", "size_kb"), [("trickling", 1), ("deaf", LONG_KB)])
def test_a_bot_behind_tls_has_its_time_and_no_more(behind_tls: Bots, behaviour: str, size_kb: int) -> None:
    """Where bytes of a record come that never ends, each of which wakes who waits; where it does not read on."""
    url = f"https://{LOCAL}:{behind_tls.server_port}/{behaviour}"
    found, thinking_s = asked_by_greenlets(url, 1.0, size_kb)
    assert found == "timeout"
    assert 1.0 <= thinking_s < 4.0


def test_a_certificate_for_another_name_is_refused(behind_tls: Bots) -> None:
    """And nothing is asked; its owner is told why, in one sentence."""
    failure = asked(f"https://other.example:{behind_tls.server_port}/good").failure
    assert (failure.code, behind_tls.asked["good"]) == ("bad-certificate", 0)
    assert failure.sentence.endswith("certificate is not valid for 'other.example'.")


def test_a_certificate_that_nobody_vouches_for_is_refused(behind_tls: Bots, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here its own issuer is not trusted."""
    monkeypatch.delenv("SSL_CERT_FILE")
    failure = asked(f"https://{NAME}:{behind_tls.server_port}/good").failure
    assert (failure.code, failure.ours) == ("bad-certificate", False)


def test_a_bot_that_speaks_no_tls_is_told(bots: Bots) -> None:
    """It is its own failure."""
    failure = asked(f"https://127.0.0.1:{bots.server_port}/good").failure
    assert (failure.code, failure.ours) == ("bad-tls", False)


def test_who_sends_records_without_end_for_a_greeting_has_failed_itself() -> None:
    """As any other that speaks no TLS; if it were the server's failure, a bot that is about to lose would not."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        at = f"127.0.0.1:{listener.getsockname()[1]}"
        asking = ThreadPoolExecutor(1).submit(asked, f"https://{at}/")
        with listener.accept()[0] as connection, suppress(ConnectionError):
            connection.settimeout(10.0)
            connection.sendall(SHORT_RECORD * 1_000_000)
        failure = asking.result(20).failure
    sentence = f"No TLS connection to {at}: too much came that is no part of an answer."
    assert (failure.code, failure.ours, failure.sentence) == ("bad-tls", False, sentence)


@pytest.fixture
def without_collector() -> Iterator[None]:
    """It runs so seldom in a worker that hundreds of megabytes would gather."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("without_collector")
def test_an_answer_that_breaks_off_is_not_left_to_the_collector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is kept beside the connection until the data before it have been read."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate(tmp_path)))
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
        left = pool.submit(left_of, f"https://{LOCAL}:{listener.getsockname()[1]}/")
        for _ in range(2):
            with listener.accept()[0] as connection:
                _break_off(connection, tmp_path / "bots.pem")
        assert left.result(20) == []


@pytest.mark.usefixtures("without_collector")
def test_nor_is_a_question_to_who_does_not_greet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its error comes of another one, which holds the call as well."""
    monkeypatch.setattr("battlebot.stateless.http.connections.CONNECT_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert left_of(f"https://127.0.0.1:{listener.getsockname()[1]}/") == []


def _break_off(connection: socket.socket, file: Path) -> None:
    """Answers with a part of an answer, and at once with a record that is none."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    came, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(came, out, server_side=True)
    for step in (tls.do_handshake, tls.read):
        while True:
            try:
                step()
                break
            except ssl.SSLWantReadError:
                connection.sendall(out.read())
                came.write(connection.recv(65_536))
    tls.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[")
    connection.sendall(out.read() + b"\x17\x03\x03\x00\x40" + bytes(64))
    connection.recv(1)
