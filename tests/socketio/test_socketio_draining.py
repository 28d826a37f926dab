"""The door while its node stops, in this process, by polling: what its viewers are told, and whoever comes then."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from cluster import LIMIT_S, wait_for
from flask import Flask

from battlebot.config import load_settings
from battlebot.transports.socketio import SocketIoDoor, init_socketio
from battlebot.transports.socketio_servers import NEW, OLD

CLOSE = "1"  # of engine.io; socket.io's DISCONNECT is 41


class Poller:
    """A client of either generation that joins the namespace, as viewers do, or not."""

    def __init__(self, app: Flask, eio: str, joins: bool = True) -> None:
        self.eio, self.client = eio, app.test_client()
        self.query = f"/socket.io/?EIO={eio}&transport=polling&b64=1"
        opened, *rest = self.poll()
        self.sid = json.loads(opened[1:])["sid"]
        self.query += f"&sid={self.sid}"
        if joins and eio == NEW:
            assert self.client.post(self.query, data="40").status_code == 200
            rest = self.poll()
        assert [packet[:2] for packet in rest] == (["40"] if joins else [])

    def poll(self) -> list[str]:
        """Returns the packets of one poll."""
        answer = self.client.get(self.query)
        assert answer.status_code == 200, answer.text
        if self.eio == NEW:
            return answer.text.split("\x1e")
        text, packets = answer.text, []
        while text:
            length, _, text = text.partition(":")
            packets.append(text[: int(length)])
            text = text[int(length) :]
        return packets


@pytest.fixture
def house() -> tuple[Flask, SocketIoDoor]:
    """Returns an application with the door, in which nothing is played."""
    nobody: Any = None
    app, door = Flask("test"), SocketIoDoor(load_settings({}, None), nobody, lambda address: True)
    init_socketio(app, door)
    return app, door


@pytest.mark.parametrize(("eio", "joins"), [(OLD, True), (NEW, True), (NEW, False)])
def test_who_polls_is_told_of_the_end_of_its_connection_and_of_no_disconnect(
    house: tuple[Flask, SocketIoDoor], eio: str, joins: bool
) -> None:
    """Genuine clients come again after the one, and never after the other; also if they do not wait at that moment."""
    app, door = house
    waits, later = Poller(app, eio, joins), Poller(app, eio, joins)
    told: list[list[str]] = []
    thread = threading.Thread(target=lambda: told.append(waits.poll()), daemon=True)
    thread.start()
    packets = door.servers[eio].eio.sockets[waits.sid].queue
    wait_for(lambda: packets.not_empty._waiters, "a poll that waits")
    door.drain()
    thread.join(LIMIT_S)
    assert told == [[CLOSE]]
    # its session is over, which is an error of the transport to it
    assert later.client.get(later.query).status_code == 400


@pytest.mark.parametrize("eio", [OLD, NEW])
def test_who_comes_while_the_node_stops_is_not_let_in(house: tuple[Flask, SocketIoDoor], eio: str) -> None:
    """Its session would end with the node a moment later; it comes again, and finds another node."""
    app, door = house
    door.drain()
    assert app.test_client().get(f"/socket.io/?EIO={eio}&transport=polling").status_code == 401
    assert not any(server.eio.sockets for server in door.servers.values())
