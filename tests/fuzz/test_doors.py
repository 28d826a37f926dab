"""Every door, fuzzed in every phase of a bot's conversation: whatever comes, the server plays on, and logs no error."""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from typing import Any

import pytest
from fuzzed import DOORS, Door, Step, read_some
from ground import GAMES, Ground, hang_up
from hypothesis import given
from hypothesis import strategies as st
from jsons import RIGHT, logins, turns
from peer import Closed, Peer, login_for, new_name

ENDS = st.sampled_from(["reset", "goodbye", "close"])
LOGINS = st.sampled_from([{}, {"protocol": 2}, {"protocol": 2, "session": "keep"}])
every_door = pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)


def steps_of(door: Door) -> st.SearchStrategy[list[Step]]:
    """What is done in one conversation."""
    return st.lists(door.steps, max_size=8)


def go(door: Door, peer: Peer, steps: list[Step], end: str) -> None:
    """Does the steps until the server hangs up, then hangs up."""
    with suppress(OSError, Closed):
        for step in steps:
            door.do(peer, step)
    hang_up(peer, end)


@every_door
def test_before_the_door_is_open(ground: Ground, door: Door) -> None:
    """Bytes instead of a greeting, and greetings with something wrong in them."""

    @given(st.data())
    def run(data: st.DataObject) -> None:
        greeting = bytearray(door.greeting(ground.web.address))
        sent = data.draw(st.binary(max_size=200) | st.none(), label="instead")
        if sent is None:
            at = data.draw(st.integers(0, 150), label="at")
            greeting[at : at + data.draw(st.integers(0, 20), label="length")] = data.draw(st.binary(max_size=20))
            sent = bytes(greeting)
        host, _, port = ground.web.address.partition(":")
        with socket.create_connection((host, int(port)), 5) as sock, suppress(OSError):
            sock.sendall(sent)
            if data.draw(st.booleans(), label="then nothing more"):
                sock.shutdown(socket.SHUT_WR)
            sock.settimeout(0.05)
            answer = sock.recv(4096)
            assert not answer.startswith(b"HTTP/1.1 5"), answer
        ground.after()

    run()


@every_door
def test_instead_of_a_login(ground: Ground, door: Door) -> None:
    """Logins with anything in any place, among steps of all kinds."""
    auths = [ground.web.register(new_name("fuzzed"), game) for game in GAMES]

    @given(st.integers(0, 2), steps_of(door), logins, steps_of(door), ENDS)
    def run(who: int, before: list[Step], login: dict[str, Any], after: list[Step], end: str) -> None:
        peer = door.open(ground.web.address)
        salt = peer.message()["salt"]
        right = login_for(auths[who], salt)
        filled = {key: right.get(key, RIGHT) if value is RIGHT else value for key, value in login.items()}
        with suppress(OSError, Closed):
            for step in before[:1] if len(before) > 6 else []:
                door.do(peer, step)
            peer.send(json.dumps(filled))
            read_some(peer)
        go(door, peer, after, end)
        ground.after()

    run()


@every_door
def test_while_it_waits(ground: Ground, door: Door) -> None:
    """Logged in, alone: nothing that it sends is answered, and its going leaves nothing behind."""

    @given(steps_of(door), LOGINS, ENDS)
    def run(steps: list[Step], login: dict[str, Any], end: str) -> None:
        peer = door.open(ground.web.address)
        # alone in its contest, so that nobody of another test meets it
        peer.log_in(auth, contest=new_name("alone"), **login)
        go(door, peer, steps, end)
        ground.after()

    auth = ground.web.register(new_name("waiting"), "numberwang")
    run()


@every_door
@pytest.mark.parametrize("game", GAMES)
def test_while_it_plays(ground: Ground, door: Door, game: str) -> None:
    """On turn at a match with an honest opponent, which is told its end in any case."""

    @given(st.lists(turns.map(json.dumps), max_size=2), steps_of(door), LOGINS, ENDS)
    def run(texts: list[str], steps: list[Step], login: dict[str, Any], end: str) -> None:
        auth = ground.web.register(new_name("fuzzed"), game)  # first: on a busy machine it takes a login's time
        peer = door.open(ground.web.address)
        ground.meet(peer, auth, login)
        go(door, peer, [*(("message", text) for text in texts), *steps], end)
        ground.after()

    run()
