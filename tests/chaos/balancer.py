"""A load balancer before the nodes, like nginx in production: sends each TCP connection to a node that listens."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
from collections.abc import Iterator, Sequence

CONNECT_S = 2.0
CHUNK = 65536


class Balancer:
    """Balances round-robin over `ports` of 127.0.0.1, skipping those that refuse. Does not look at the data."""

    def __init__(self, ports: Sequence[int]) -> None:
        self._ports = ports
        self._next = itertools.count()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self.port = 0

    def cut(self) -> None:
        """Breaks every connection, as a network does, without a close frame. Thread-safe."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(lambda: [writer.transport.abort() for writer in self._open])

    async def serve(self, ready: threading.Event) -> None:
        """Listens until it is cancelled; `port` is known when `ready` is set."""
        self._loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        async with server:
            await server.serve_forever()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        node = await self._connect()
        if node is not None:
            node_reader, node_writer = node
            self._open |= {writer, node_writer}
            await asyncio.gather(_pour(reader, node_writer), _pour(node_reader, writer))
            self._open -= {writer, node_writer}
        writer.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        first = next(self._next)
        for index in range(len(self._ports)):
            port = self._ports[(first + index) % len(self._ports)]
            with contextlib.suppress(OSError, TimeoutError):
                return await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), CONNECT_S)
        return None


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
    # one side has closed: the other must notice, whatever it is doing
    writer.close()


@contextlib.contextmanager
def balancing(ports: Sequence[int]) -> Iterator[Balancer]:
    """Yields a balancer that runs in a thread of its own."""
    balancer, ready, loop = Balancer(ports), threading.Event(), asyncio.new_event_loop()
    task = loop.create_task(balancer.serve(ready))

    def run() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
        for rest in asyncio.all_tasks(loop):
            rest.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

    thread = threading.Thread(target=run, name="balancer", daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield balancer
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(5)
