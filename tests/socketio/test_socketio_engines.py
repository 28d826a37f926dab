"""The engines of both generations, by their requests alone: what a client that harms does is over at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest

from battlebot.transports.socketio_engines import MOST_PONGS, MOST_UNREAD, NewBounded, OldBounded, can_be_framed

LIMIT_S = 30.0
ENGINES: dict[str, tuple[Callable[..., Any], str]] = {"3": (OldBounded, "2:9x"), "4": (NewBounded, "9x")}


class Client:
    """Asks an engine as the door does."""

    def __init__(self, eio: str) -> None:
        kind, self.unknown = ENGINES[eio]
        self.engine = kind(async_mode="threading", monitor_clients=False, cors_allowed_origins=[], cookie=None)
        self.query = f"EIO={eio}&transport=polling"

    def open(self) -> str:
        """Opens a session; its id."""
        before = set(self.engine.sockets)
        assert self.ask("GET", self.query)[0] == "200 OK"
        (sid,) = set(self.engine.sockets) - before
        return str(sid)

    def ask(self, method: str, query: str, body: bytes = b"") -> tuple[str, bytes]:
        """The status and the body of an answer, which must come."""
        answers: list[tuple[str, bytes]] = []
        environ = {"REQUEST_METHOD": method, "QUERY_STRING": query, "CONTENT_LENGTH": str(len(body))}

        def asked() -> None:
            status: list[str] = []
            parts = self.engine.handle_request(
                {**environ, "wsgi.input": BytesIO(body)}, lambda line, _: status.append(line)
            )
            answers.append((status[0], b"".join(parts)))

        # a thread of its own, so that a request which never ends fails here
        thread = threading.Thread(target=asked, daemon=True)
        thread.start()
        thread.join(LIMIT_S)
        assert answers, "the request was answered"
        return answers[0]

    def post(self, sid: str, body: str) -> str:
        """The status of what a session says."""
        return self.ask("POST", f"{self.query}&sid={sid}", body.encode())[0]


@pytest.fixture(params=list(ENGINES))
def client(request: pytest.FixtureRequest) -> Client:
    """A client of either generation."""
    return Client(request.param)


def test_a_packet_of_no_kind_ends_the_session_and_waits_for_nobody(client: Client) -> None:
    """The client never reads its last; the session is forgotten, and whoever asks for it is told so."""
    sid = client.open()
    assert client.post(sid, client.unknown).startswith("400")
    assert sid not in client.engine.sockets
    for method in ("GET", "POST"):
        assert client.ask(method, f"{client.query}&sid={sid}")[0].startswith("400")


def test_a_session_that_its_client_has_closed_is_forgotten(client: Client) -> None:
    """Asked for afterwards it is unknown, and no fault."""
    sid = client.open()
    client.post(sid, "1" if isinstance(client.engine, NewBounded) else "1:1")
    assert not client.engine.sockets
    assert client.ask("GET", f"{client.query}&sid={sid}")[0].startswith("400")


def test_what_is_said_by_no_session_is_refused(client: Client) -> None:
    """Without an id, or with one that is not known."""
    for query in (client.query, f"{client.query}&sid=x"):
        assert client.ask("POST", query, b"2:40")[0].startswith("400")


def test_who_talks_and_reads_nothing_is_ended() -> None:
    """Answers to its pings hold what it has sent: eight, and no more than the packets of one request beside."""
    client = Client("3")
    sid = client.open()
    statuses = [client.post(sid, "2:2p") for _ in range(MOST_PONGS + 2)]
    assert statuses[-1].startswith("400")
    assert set(statuses[:-1]) == {"200 OK"}
    assert not client.engine.sockets


def test_who_leaves_all_unread_may_say_nothing_more(client: Client) -> None:
    """Whatever it is that waits."""
    sid = client.open()
    for _ in range(MOST_UNREAD + 1):
        client.engine.send(sid, "x")
    assert client.post(sid, "6" if isinstance(client.engine, NewBounded) else "1:6").startswith("400")
    assert not client.engine.sockets


@pytest.mark.parametrize(
    ("body", "can"),
    [
        (b"", True),
        (b"2:40", True),
        (b"\x00\x02\xff40\x00\x01\xff2", True),
        (b"\x01\x02\xff\x04a", True),
        (b"\x00\x09\xff40", True),
        (b"\x00" + b"\x09" * 10 + b"\xff40", False),
        (b"\x00" + b"\x09" * 60_000, False),
        (b"\x00\x02\xff40\x00" + b"\x09" * 60_000, False),
        (b"d=\x00" + b"\x09" * 60_000, False),
        (b"\x00\x0a\xff40", False),
        (b"\x00\x00\x0a\xff40", False),
        (b"\x00\xff", True),
    ],
    ids=range(12),
)
def test_lengths_of_more_digits_than_they_can_have_are_refused(body: bytes, can: bool) -> None:
    """In the first packet and in later ones; the other forms are the package's to read."""
    assert can_be_framed(body) is can


def test_a_body_that_cannot_be_framed_is_refused_and_the_session_goes_on() -> None:
    """It is not read at all."""
    client = Client("3")
    sid = client.open()
    assert client.ask("POST", f"{client.query}&sid={sid}", b"\x00" + b"\x09" * 60_000)[0].startswith("400")
    assert client.post(sid, "1:2") == "200 OK"


@pytest.mark.parametrize("body", [b"d=\xff", b"d=\xc3\xa9", b"d=%FF", b"d=%C3%A9", b"d=1:6&d=%FF"])
def test_a_form_that_is_not_ascii_is_refused_and_the_session_goes_on(body: bytes) -> None:
    """A browser escapes what is not, which the package cannot read either."""
    client = Client("3")
    sid = client.open()
    assert client.ask("POST", f"{client.query}&sid={sid}", body)[0].startswith("400")
    assert client.post(sid, "1:2") == "200 OK"
