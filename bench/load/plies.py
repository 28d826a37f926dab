"""Gomoku at either door, board after board: measures a ply, from one player's move to the other's question."""

from __future__ import annotations

import asyncio
import hashlib
import time
from functools import partial
from typing import Any, cast

import orjson
from picows import WSCloseCode, WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from bench.load.tally import Tally, Window

SIZE = 15
HEAD = 4
SETTLE_S = 2.0


def _script() -> list[list[int]]:
    """All 225 moves of a drawn board: at most two marks in a row, except where the two colours are made equal."""
    spaces = [[x, y] for y in range(SIZE) for x in range(SIZE)]
    first = [space for space in spaces if (space[0] + 2 * space[1]) % 4 < 2]
    second = [space for space in spaces if space not in first]
    while len(first) > len(second) + 1:
        second.append(first.pop())
    while len(second) > len(first) - 1:
        first.append(second.pop())
    moves: list[list[int]] = [[]] * len(spaces)
    moves[::2], moves[1::2] = first, second
    return moves


SCRIPT = _script()


class Plies:
    """The time at which each move was sent, until the opponent is asked for the next."""

    def __init__(self, tally: Tally) -> None:
        self.over = False
        self._tally = tally
        self._sent_s: dict[tuple[str, int], float] = {}

    def asked(self, me: str, board: str, moves: list[list[int]]) -> list[int]:
        """Record that a player is asked for a move on the board; return the move to send."""
        number = len(moves)
        if moves != SCRIPT[:number]:
            self._tally.say_wrong(f"{me} was shown other moves than were made: {moves}")
        sent_s = self._sent_s.pop((board, number), None)
        if sent_s is not None:
            self._tally.turned(time.perf_counter() - sent_s)
        elif number:
            self._tally.say_wrong(f"{me} was asked twice after move {number} of {board}, or nobody made it")
        return SCRIPT[number]

    def sends(self, board: str, number: int) -> None:
        """Record that the `number`-th move of the board, from 1, is sent now."""
        self._sent_s[board, number] = time.perf_counter()

    def wrong(self, sentence: str) -> None:
        """Record a violation of the protocol page, unless the run is over."""
        if not self.over:
            self._tally.say_wrong(sentence)


class TcpPlayer(asyncio.Protocol):
    """A client of the TCP door."""

    def __init__(self, plies: Plies, name: str) -> None:
        self._plies, self._me = plies, name
        self._data = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by asyncio, which sets TCP_NODELAY."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transport is not a subclass
        self._send({"username": self._me})

    def data_received(self, data: bytes) -> None:
        """Called by asyncio."""
        self._data += data
        while len(self._data) >= HEAD and len(self._data) >= (end := HEAD + int.from_bytes(self._data[:HEAD])):
            message = orjson.loads(self._data[HEAD:end])
            del self._data[:end]
            self._take(message)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by asyncio."""
        self._plies.wrong(f"the connection of {self._me} ended: {exc}")

    def leave(self) -> None:
        """Close the connection."""
        assert self._transport is not None
        self._transport.close()

    def _take(self, message: dict[str, Any]) -> None:
        event = message.get("event")
        if event == "get_move":
            board = message["board"]
            x, y = self._plies.asked(self._me, str(board["_id"]), board["_moves"])
            self._plies.sends(str(board["_id"]), len(board["_moves"]) + 1)
            self._send({"event": "make_move", "id": message["id"], "x": x, "y": y})
        elif event == "player_is_free":
            self._send({"event": "find_opponent"})
        elif event != "starting_game" and message != {"status": "ok"}:
            self._plies.wrong(f"{self._me} was told {message}")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._transport is not None
        payload = orjson.dumps(message)
        self._transport.write(len(payload).to_bytes(HEAD) + payload)


class WebSocketPlayer(WSListener):
    """A bot at the WebSocket door that keeps its session."""

    def __init__(self, plies: Plies, auth: dict[str, str]) -> None:
        self._plies, self._auth = plies, auth
        self._transport: WSTransport | None = None

    def on_ws_connected(self, transport: WSTransport) -> None:
        """Called by picows."""
        self._transport = transport

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        """Called by picows for each frame; picows answers pings itself."""
        if frame.msg_type == WSMsgType.TEXT:
            self._take(orjson.loads(frame.get_payload_as_memoryview()))
        elif frame.msg_type == WSMsgType.CLOSE:
            self._plies.wrong(f"{self._auth['bot_id']} was closed: {frame.get_close_message()!r}")
            transport.disconnect()

    def leave(self) -> None:
        """Send a close frame and disconnect."""
        assert self._transport is not None
        self._transport.send_close(WSCloseCode.OK)
        self._transport.disconnect()

    def _take(self, message: dict[str, Any]) -> None:
        me = self._auth["bot_id"]
        if "salt" in message:
            proof = hashlib.sha256((self._auth["pass_hash"] + message["salt"]).encode()).hexdigest()
            login = {"game": "gomoku", "bot_id": me, "login_hash": proof, "protocol": 2, "session": "keep"}
            self._send(login)
        elif "state" in message:
            state, board = message["state"], message["match"]["id"]
            if state["nextPlayer"] == me and not state["complete"]:
                x, y = self._plies.asked(me, board, state["moves"])
                self._plies.sends(board, len(state["moves"]) + 1)
                self._send({"x": x, "y": y})
            elif state["complete"] and state["victor"] is not None:
                self._plies.wrong(f"{me} was told {state}")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._transport is not None
        self._transport.send(WSMsgType.TEXT, orjson.dumps(message))


async def plies(
    url: str,
    watch: dict[str, list[int]],
    seconds: float,
    bots: list[dict[str, str]],
    tcp: tuple[str, int] | None = None,
) -> dict[str, Any]:
    """All bots play gomoku against each other: at the TCP door at `tcp`, by name only, or else at `url`."""
    tally = Tally()
    window, made = Window(tally, watch), Plies(tally)
    players: list[TcpPlayer | WebSocketPlayer] = []
    for bot in bots:
        if tcp is None:
            _, guest = await ws_connect(partial(WebSocketPlayer, made, bot), url)
            players.append(cast(WebSocketPlayer, guest))
        else:
            make = partial(TcpPlayer, made, bot["bot_id"])
            _, player = await asyncio.get_running_loop().create_connection(make, *tcp)
            players.append(player)
    await asyncio.sleep(SETTLE_S)
    await window.keep_open(seconds)
    made.over = True
    for one in players:
        one.leave()
    await asyncio.sleep(0.1)
    return window.result()
