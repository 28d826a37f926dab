"""`python -m bench.cube_bots COUNT`: COUNT cheap HTTP bots for battlecube, each at its own port.

They move and place bombs at random, like the original's example bots. It prints the ports on one line.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys

import uvloop

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
STEPS = ("+X", "-X", "+Y", "-Y", "+Z", "-Z")


class CubeBot(asyncio.Protocol):
    """One connection. A question arrives in one or several pieces; the next comes only after its answer."""

    def __init__(self) -> None:
        self.data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.data += data
        head, found, body = self.data.partition(b"\r\n\r\n")
        if found and len(body) >= int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]):
            self.data = b""
            answer = json.dumps([task(json.loads(body))]).encode()
            self.transport.write(HEAD % (len(answer), answer))  # type: ignore[attr-defined]


def task(question: dict) -> dict:
    """A random step in 15 % of the ticks, which may leave the cube, a bomb in 20 %, else nothing.

    So a battle lasts about 55 ticks.
    """
    chance, edge = random.random(), question["gameInfo"]["edgeLength"]
    if chance < 0.15:
        return {"task": "MOVE", "direction": random.choice(STEPS)}
    if chance < 0.35:
        return {"task": "PLACE_BOMB", **{axis: random.randrange(edge) for axis in "xyz"}}
    return {"task": "NOOP"}


async def main(count: int) -> None:
    """Serve until the parent closes our stdin."""
    loop = asyncio.get_running_loop()
    servers = [await loop.create_server(CubeBot, "127.0.0.1", 0, backlog=500) for _ in range(count)]
    print(*(server.sockets[0].getsockname()[1] for server in servers), flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
