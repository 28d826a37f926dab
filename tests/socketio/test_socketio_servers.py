"""What the packages would keep, compute or allow for a client that means harm: by polling, packet by packet."""

from __future__ import annotations

import base64
import json
import time

import pytest
import requests
from cluster import LIMIT_S, Cluster, Web

from battlebot.config import Settings
from battlebot.transports.socketio_servers import LONGEST_ID, LONGEST_NAMESPACE, can_be_taken, make_servers

ATTACHED = '["NEW_GAME",{"_placeholder":true,"num":0}]'
BINARY = base64.b64encode(b"x" * 1000).decode()
EVENT = '["WATCH_GAME",{"id":"none"}]'


class Poller:
    """A session of either generation that polls, connected to the namespace."""

    def __init__(self, web: Web, eio: str) -> None:
        self.eio = eio
        self.url = f"{web.url}/socket.io/?EIO={eio}&transport=polling&b64=1"
        opened = requests.get(self.url, timeout=LIMIT_S).text
        sid = json.loads(opened[opened.index("{") : opened.index("}") + 1])["sid"]
        self.url += f"&sid={sid}"
        if eio == "4":
            self.say("40")
            self.hear()

    def say(self, *packets: str) -> int:
        """Sends packets of engine.io in one request; returns its status."""
        body = "\x1e".join(packets) if self.eio == "4" else "".join(f"{len(one)}:{one}" for one in packets)
        return requests.post(self.url, data=body.encode(), timeout=LIMIT_S).status_code

    def hear(self) -> str:
        """Returns what waits for the session, or what says that it is over."""
        return requests.get(self.url, timeout=LIMIT_S).text


@pytest.fixture(params=["3", "4"])
def poller(nodes: tuple[Web, Web], request: pytest.FixtureRequest) -> Poller:
    """A session of either generation."""
    return Poller(nodes[0], request.param)


@pytest.mark.parametrize(
    ("data", "can"),
    [
        (f"2{EVENT}", True),
        (f"20{EVENT}", True),
        (f"2{'9' * LONGEST_ID}{EVENT}", True),
        (f"2{'9' * LONGEST_ID}0{EVENT}", False),
        ("2" + "9" * 60_000, False),
        ("23-" + "9" * 60_000, False),
        ("2/a," + "9" * 60_000, False),
        ("23-/[," + "9" * 60_000, False),
        ("3" + "9" * 60_000, False),
        ("2" + "٣" * 60_000, False),
        ('2["99999999999999999999999"]', True),
        ("0/?token=99999999999999999999999,", True),
        ('0{"token":1}', True),
        ("0/" + "a" * (LONGEST_NAMESPACE - 1), True),
        ("0/" + "a" * LONGEST_NAMESPACE, False),
        ("0/" + "a" * LONGEST_NAMESPACE + ",{}", False),
        (f"51-{ATTACHED}", False),
        (f"5{ATTACHED}", False),
        (f"٥1-{ATTACHED}", False),
        (f"61-0{ATTACHED}", False),
        (b"x", False),
        (b"", False),
        ("", True),
        ("x", True),
        ({}, True),
        (None, True),
    ],
)
def test_nothing_binary_and_no_long_namespace_or_id_can_be_taken(data: object, can: bool) -> None:
    """Digits are those that Python reads as digits; in an event's arguments, or in a token, they are no id."""
    assert can_be_taken(data) is can


@pytest.mark.parametrize("what", ["attachments to come", "binary", "a long id", "a long namespace"])
def test_what_cannot_be_taken_ends_the_session(poller: Poller, what: str) -> None:
    """Whatever it says afterwards, nothing is kept of it."""
    binary = f"b4{BINARY}" if poller.eio == "3" else f"b{BINARY}"
    packets = {"attachments to come": f"4510000-{ATTACHED}", "binary": binary, "a long id": "42" + "9" * 60_000}
    packets["a long namespace"] = "40/" + "a" * 60_000
    poller.say(packets[what])
    assert poller.say(f"42{EVENT}") == 400
    assert "ERROR" not in poller.hear()


@pytest.mark.parametrize("packet", ["4x", "42nonsense", "42[", "4²", "49"])
def test_what_is_no_packet_ends_the_session_and_is_not_logged(poller: Poller, parts: Cluster, packet: str) -> None:
    """Sixteen in a request would make more of the log than of the line."""
    before = parts.logs().count("handler error")
    poller.say(packet)
    assert poller.say(f"42{EVENT}") == 400
    assert parts.logs().count("handler error") == before


@pytest.mark.parametrize("packet", ["431[]", '42/a,["NEW_GAME"]'])
def test_a_packet_that_nobody_waits_for_is_not_logged(poller: Poller, parts: Cluster, packet: str) -> None:
    """An answer to nothing, or an event of a namespace to which it is not connected."""
    before = parts.logs().count("socketio.server")
    assert poller.say(*[packet] * 15) == 200
    assert parts.logs().count("socketio.server") == before


def test_another_namespace_is_refused_as_each_generation_expects_it(poller: Poller) -> None:
    """A client that takes `/battlecube` for a path is told; the old one would wait, the new one tell nothing."""
    assert poller.say("40/battlecube" + ",{}" * (poller.eio == "4"), f"42{EVENT}") == 200
    told = {"3": '"Invalid namespace"', "4": '{"message":"Invalid namespace"}'}
    assert f"44/battlecube,{told[poller.eio]}" in poller.hear()


@pytest.mark.parametrize("method", ["HEAD", "PUT"])
def test_a_method_that_is_not_known_is_told_which_are(nodes: tuple[Web, Web], method: str) -> None:
    """As every 405 must tell; HEAD is none of them."""
    for path in ("/socket.io/?EIO=3", "/socket.io?EIO=4"):
        answer = requests.request(method, nodes[0].url + path, timeout=LIMIT_S)
        assert answer.status_code == 405
        assert set(answer.headers["Allow"].split(", ")) == {"GET", "POST", "OPTIONS"}


def test_who_connects_again_over_its_connection_gets_no_new_allowance(poller: Poller) -> None:
    """With a goodbye to the namespace or without: the events of both viewers are counted together."""
    again = [["40"] * 5, ["41", "40"] * 2]
    began_s, told = time.monotonic(), ""
    for packets in again:
        poller.say(*packets, *[f"42{EVENT}"] * 10)
        told += poller.hear()
    taken = told.count("unknown-match")
    # twice what is allowed in a second, and what has been allowed since
    assert 10 <= taken <= 10 + 5 * (time.monotonic() - began_s)
    assert told.count("TOO_MANY_EVENTS") == 20 - taken


class Everybody:
    """A counter that lets everybody in."""

    def admit(self, sid: str, environ: object) -> bool:
        """Lets it in."""
        return True

    def release(self, sid: str) -> None:
        """Counts nothing."""


def test_an_error_of_ours_is_not_taken_for_a_packet_that_is_none(settings: Settings) -> None:
    """It would end the session, and nobody would hear of it."""

    def fail(*_: object) -> bool:
        raise KeyError("ours")

    for server in make_servers(settings, Everybody(), {}, {"connect": fail}).values():
        server.environ["s"] = {}
        with pytest.raises(RuntimeError, match="failed"):
            server._trigger_event("connect", "/", "s", {}, {})


@pytest.mark.parametrize("eio", ["3", "4"])
def test_nothing_is_kept_of_a_message_that_comes_after_its_session(eio: str) -> None:
    """It came with what ended the session, or waited behind it."""
    server = make_servers(Settings(), Everybody(), {}, {})[eio]
    for _ in range(3):
        server._handle_eio_message("gone", "0" if eio == "4" else "0/")
    assert not server.manager.rooms
    assert not getattr(server.manager, "pending_connect", None)
