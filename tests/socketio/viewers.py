"""Viewers of both generations: python-socketio's client, and one that speaks EIO=3 itself, frame by frame."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

import requests
import socketio
import websocket
from cluster import LIMIT_S, Web, wait_for

NOOP_GAME = {"maxNumOfTicks": 6, "edgeLength": 6, "speed": 0, "numOfTasksPerTick": 1}


def game(*urls: str, **setup: Any) -> dict[str, Any]:
    """Returns a `NEW_GAME` of bots called a, b, ... at these urls."""
    players = [{"name": name, "url": url} for name, url in zip("abcdefgh", urls, strict=False)]
    return {"setup": {**NOOP_GAME, **setup}, "players": players}


class Viewer:
    """What all viewers share: `got` are the events received, and `say` sends one.

    `packets`: what came over the wire, as engine.io's packets; `ended` is set when its connection has ended.
    """

    def __init__(self) -> None:
        self.got: list[tuple[str, Any]] = []
        self.packets: list[str] = []
        self.ended = threading.Event()

    def say(self, name: str, *arguments: Any) -> None:
        """Sends an event."""
        raise NotImplementedError

    def send(self, packet: str) -> None:
        """Sends a packet of socket.io as it is."""
        raise NotImplementedError

    def close(self) -> None:
        """Leaves."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def names(self) -> list[str]:
        """Returns the events' names."""
        return [name for name, _ in self.got]

    def bodies(self, name: str) -> list[Any]:
        """Returns the bodies of all events of a name."""
        return [body for one, body in list(self.got) if one == name]

    def until(self, name: str, number: int = 1) -> Any:
        """Returns the body of the `number`-th event of that name, once it has come."""
        wait_for(lambda: len(self.bodies(name)) >= number, f"{number} {name}, there are {self.names()[-5:]}")
        return self.bodies(name)[number - 1]

    def play(self, wanted: Any) -> list[tuple[str, Any]]:
        """Begins a game; returns everything that is told of it."""
        self.got.clear()
        self.say("NEW_GAME", wanted)
        self.until("GAME_ENDED")
        return list(self.got)


class Today(Viewer):
    """EIO=4, by python-socketio's client."""

    def __init__(self, web: Web, *transports: str, headers: dict[str, str] | None = None) -> None:
        super().__init__()
        self.client = socketio.Client(reconnection=False)
        # it hands each event to a thread of its own, so the order may change
        hand_over = self.client.eio._trigger_event
        self.client.eio._trigger_event = lambda *what, **how: hand_over(*what, **{**how, "run_async": False})
        receive = self.client.eio._receive_packet
        self.client.eio._receive_packet = lambda packet: (self.packets.append(packet.encode()), receive(packet))
        self.client.on("*", lambda name, body=None: self.got.append((name, body)))
        self.client.on("disconnect", lambda *_: self.ended.set())
        self.client.connect(web.url, transports=list(transports) or None, headers=headers or {})

    def say(self, name: str, *arguments: Any) -> None:
        self.client.emit(name, arguments)

    def send(self, packet: str) -> None:
        self.client.eio.send(packet)

    def close(self) -> None:
        self.client.disconnect()


class Original(Viewer):
    """EIO=3 over a WebSocket of its own: is connected without asking, sends pings, and the server sends pongs."""

    def __init__(self, web: Web) -> None:
        super().__init__()
        self.pongs = 0
        address = f"ws://{web.address}/socket.io/?EIO=3&transport=websocket"
        self.ws = websocket.create_connection(address, timeout=LIMIT_S)
        self.hello = json.loads(self.ws.recv()[1:])
        assert self.ws.recv() == "40", "connected to the namespace / without asking"
        threading.Thread(target=self._read, daemon=True).start()

    def say(self, name: str, *arguments: Any) -> None:
        self.send("2" + json.dumps([name, *arguments]))

    def send(self, packet: str) -> None:
        self.ws.send(f"4{packet}")

    def hear(self, name: str, body: Any) -> None:
        """Notes an event."""
        self.got.append((name, body))

    def ping(self) -> None:
        """Sends a ping of engine.io."""
        self.ws.send("2")

    def close(self) -> None:
        with suppress(Exception):
            self.ws.send_close()
        self.ws.shutdown()

    def _read(self) -> None:
        with suppress(Exception):
            while text := self.ws.recv():
                self.packets.append(text)
                if text == "3":
                    self.pongs += 1
                elif text.startswith("42"):
                    name, *rest = json.loads(text[2:])
                    self.hear(name, rest[0] if rest else None)
        self.ended.set()


class OriginalPolling(Viewer):
    """EIO=3 by polling: payloads of `length:packet`, text."""

    def __init__(self, web: Web) -> None:
        super().__init__()
        self.session = requests.Session()
        self.url = f"{web.url}/socket.io/"
        self.query = {"EIO": "3", "transport": "polling", "b64": "1"}
        opened, *rest = self.poll()
        assert opened[0] == "0"
        self.query["sid"] = json.loads(opened[1:])["sid"]
        if not rest:
            rest = self.poll()
        assert rest == ["40"]
        self.over = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def poll(self) -> list[str]:
        """Returns the packets of one poll."""
        answer = self.session.get(self.url, params=self.query, timeout=90)
        assert answer.status_code == 200, answer.text
        text, packets = answer.content.decode(), []
        while text:
            length, _, text = text.partition(":")
            packets.append(text[: int(length)])
            text = text[int(length) :]
        return packets

    def say(self, name: str, *arguments: Any) -> None:
        self.send("2" + json.dumps([name, *arguments]))

    def send(self, packet: str) -> None:
        body = f"{len(packet) + 1}:4{packet}".encode()
        answer = requests.post(self.url, params=self.query, data=body, timeout=LIMIT_S)
        assert answer.status_code == 200, answer.text

    def close(self) -> None:
        self.over.set()
        with suppress(Exception):
            requests.post(self.url, params=self.query, data="1:1", timeout=LIMIT_S)

    def _read(self) -> None:
        with suppress(Exception):
            while not self.over.is_set():
                for packet in self.poll():
                    self.packets.append(packet)
                    if packet.startswith("42"):
                        name, *rest = json.loads(packet[2:])
                        self.got.append((name, rest[0] if rest else None))
        self.ended.set()


VIEWERS: dict[str, Callable[[Web], Viewer]] = {
    "today, polling": lambda web: Today(web, "polling"),
    "today, websocket": lambda web: Today(web, "websocket"),
    "today, upgraded": lambda web: Today(web),
    "original, websocket": Original,
    "original, polling": OriginalPolling,
}
