"""The command line's REST client against peers that are not ours: each trouble is one line and a status."""

from __future__ import annotations

import datetime as dt
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from battlebot.cli.contest_commands import contest_commands
from battlebot.cli.contest_server import connect, token_for
from battlebot.cli.output import plain
from battlebot.cli.rest import RefusedByServer, Rest, Unreachable
from battlebot.client.address import parse_address
from battlebot.errors import SettingError

Serve = Callable[..., str]


@pytest.fixture
def seen() -> list[tuple[str, str | None]]:
    """Path and Authorization of each request that a peer got."""
    return []


@pytest.fixture
def serve(seen: list[tuple[str, str | None]]) -> Iterator[Serve]:
    """A function: what a peer sends, whole -> its address."""
    servers = []

    def start(raw: bytes, tls: ssl.SSLContext | None = None) -> str:
        class Peer(BaseHTTPRequestHandler):
            def handle_one_request(self) -> None:
                self.raw_requestline = self.rfile.readline()
                if self.parse_request():
                    seen.append((self.path, self.headers["Authorization"]))
                    self.wfile.write(raw)
                self.close_connection = True

            def log_message(self, *_args: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Peer)
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return f"http{'s' if tls else ''}://localhost:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def answer(status: str, body: bytes, *headers: str) -> bytes:
    """An HTTP answer as it stands on the wire."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def rest_of(url: str, token: str | None = None) -> Rest:
    """A client of that address."""
    return Rest(parse_address(url), token)


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (answer("409 Conflict", b'{"error": "No.", "code": "wrong-state"}'), "No. (wrong-state)"),
        (answer("403 Forbidden", b"<html>"), "The server answered 403 Forbidden. (http-403)"),
        (answer("502 Bad Gateway", b"[]"), "The server answered 502 Bad Gateway. (http-502)"),
        (answer("599 X", b""), "The server answered 599 (a status of its own). (http-599)"),
        (answer("400 X", b'{"error": "\\u001b[2J", "code": "c"}'), "\ufffd[2J (c)"),
    ],
)
def test_a_refusal_is_its_sentence_and_its_code(raw: bytes, line: str, serve: Serve) -> None:
    """Status 1, whoever refuses, and nothing that a terminal would obey."""
    with pytest.raises(RefusedByServer) as caught:
        rest_of(serve(raw)).get("games")
    assert (caught.value.exit_code, caught.value.format_message()) == (1, line)


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"SSH-2.0-OpenSSH\r\n", "Nobody answers at "),
        (b"", "Nobody answers at "),
        (answer("200 OK", b"<html>"), "no Battlebot server"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}", "broke off"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", "broke off"),
    ],
)
def test_what_is_no_server_of_ours_is_told(raw: bytes, sentence: str, serve: Serve) -> None:
    """Status 2."""
    with pytest.raises(Unreachable, match=sentence) as caught:
        rest_of(serve(raw)).get("games")
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\na,b\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\na,b\n\r\n",
    ],
)
def test_a_stream_that_breaks_off_is_not_taken_for_a_whole_one(raw: bytes, serve: Serve) -> None:
    """An export without its end would look like one."""
    rest = rest_of(serve(raw))
    got = []
    with rest.stream("GET", "export.csv") as stream, pytest.raises(Unreachable, match="broke off"):
        got.extend(rest.chunks(stream))
    assert b"".join(got) == b"a,b\n"


def test_a_redirect_gets_no_token(serve: Serve, seen: list[tuple[str, str | None]]) -> None:
    """It is told, not followed."""
    there = serve(answer("200 OK", b"{}"))
    here = serve(answer("307 Temporary Redirect", b"", f"Location: {there}/games"))
    with pytest.raises(Unreachable, match=f"redirects to {there}/games"):
        rest_of(here, "secret").get("games")
    assert seen == [("/games", "Bearer secret")]


def test_names_are_escaped_and_arguments_left_out(serve: Serve, seen: list[tuple[str, str | None]]) -> None:
    """Whatever a contest is called."""
    rest_of(serve(answer("200 OK", b"{}"))).get("games", "a/b", "ü?x", limit=5, before=None)
    assert seen == [("/games/a%2Fb/%C3%BC%3Fx?limit=5", None)]


def certificate(folder: Path) -> ssl.SSLContext:
    """The server's side of a certificate for localhost that nobody vouches for; it lies in `folder`."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    builder = x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - dt.timedelta(days=1)).not_valid_after(now + dt.timedelta(days=1))
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    pem = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    pem += key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "localhost.pem").write_bytes(pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "localhost.pem")
    return context


def test_a_certificate_must_be_trusted(
    serve: Serve, tmp_path: Path, seen: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the token is sent; SSL_CERT_FILE says whom to trust besides."""
    url = serve(answer("200 OK", b"{}"), certificate(tmp_path))
    with pytest.raises(Unreachable, match=r"certificate of .* is not trusted: self.signed certificate"):
        rest_of(url, "secret").get("games")
    assert seen == []
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "localhost.pem"))
    assert rest_of(url, "secret").get("games") == {}


CONFIG = """
[servers."https://bots.example.org/"]
token = "theirs"
[servers."http://127.0.0.1:3000"]
token = "ours"
[servers."https://empty.example.org"]
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a config file and a data folder with a token; the current folder."""
    config = tmp_path / ".config" / "battlebot" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(CONFIG)
    config.chmod(0o600)
    (tmp_path / ".battlebot").mkdir()
    (tmp_path / ".battlebot" / "organiser_token").write_text("embedded\n")
    for name in ("BATTLEBOT_TOKEN", "BATTLEBOT_DATA", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return config


def test_a_user_without_a_home_has_no_config_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that runs under a number which its system does not know."""
    monkeypatch.delenv("HOME")

    def unknown(number: int) -> None:
        raise KeyError(number)

    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert token_for(parse_address("https://bots.example.org"), None) is None
    assert token_for(parse_address("http://127.0.0.1:3000"), None) == "embedded"


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ("https://bots.example.org", "theirs"),
        ("bots.example.org/", "theirs"),
        ("http://bots.example.org", None),
        ("https://other.example.org", None),
        ("http://127.0.0.1:3000", "ours"),
        ("http://127.0.0.1:3001", "embedded"),
        ("http://localhost:3000", "ours"),
        ("[::1]:3000", "ours"),
        ("http://bots.localhost:3000", "embedded"),
        ("https://localhost:3000", "embedded"),
    ],
)
def test_each_server_gets_its_own_token(server: str, expected: str | None, home: Path) -> None:
    """By scheme, host and port; this machine's names are one host, and the data folder's is for it only."""
    assert token_for(parse_address(server), None) == expected


def test_the_environment_wins(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the config file."""
    monkeypatch.setenv("BATTLEBOT_TOKEN", " mine ")
    assert token_for(parse_address("https://bots.example.org"), None) == "mine"


def test_a_config_that_cannot_be_used_is_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An entry without a token, no TOML, and a file that others can read."""
    with pytest.raises(SettingError, match=r"has no token = \"...\" under \[servers"):
        token_for(parse_address("https://empty.example.org"), None)
    home.chmod(0o644)
    connect("https://bots.example.org", None)
    assert "chmod 600" in capsys.readouterr().err
    home.write_text("[servers")
    with pytest.raises(SettingError, match=r"config\.toml cannot be read: "):
        connect("http://127.0.0.1:3000", None)


def test_a_token_in_the_clear_is_warned_of(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """But to this machine."""
    monkeypatch.setenv("BATTLEBOT_TOKEN", "mine")
    connect("http://127.0.0.1:3000", None)
    connect("https://bots.example.org", None)
    assert capsys.readouterr().err == ""
    connect("http://bots.example.org", None)
    assert "unencrypted" in capsys.readouterr().err


def test_names_cannot_move_the_cursor() -> None:
    """Letters of all scripts stay."""
    assert plain("Zoë 王 \x1b[31m\n\u202e") == "Zoë 王 \ufffd[31m\ufffd\ufffd"


@pytest.mark.parametrize("body", [b"{}", b"[]", b"null", b'"x"', b'{"contests": [1]}'])
@pytest.mark.parametrize(
    "words",
    ["list g", "show g x", "watch g x", "why g x b", "create g x", "start g x", "void g x m --reason r", "export g x"],
)
def test_an_answer_of_another_form_is_told(body: bytes, words: str, serve: Serve) -> None:
    """Something else answers, or a server of another version: nothing is claimed to be done, and nothing written."""
    url = serve(answer("200 OK", body, "Content-Type: application/json"))
    result = CliRunner().invoke(contest_commands, [*words.split(), "--server", url])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "is no Battlebot server, or one of another version" in result.stderr
    assert result.stderr.count("\n") == 1
