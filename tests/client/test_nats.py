"""The client over NATS where NATS is not there, without a socket."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from nats.aio.client import Client

from battlebot.client import nats, nats_link


class Deaf(Client):
    """Tries to connect, and goes on the first times that it is cancelled, as asyncio's wait_for lets it happen."""

    async def connect(self, *arguments: Any, **options: Any) -> None:
        """Ends when it is cancelled for the fourth time."""
        for _ in range(3):
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(3600)
        await asyncio.sleep(3600)


@pytest.mark.parametrize("first_s", [60.0, 0.0], ids=["at first", "once it was said"])
def test_waiting_for_nats_ends_though_a_cancellation_is_lost(first_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the bot would stay, and try for ever."""
    monkeypatch.setattr(nats_link, "_Client", Deaf)
    monkeypatch.setattr(nats_link, "FIRST_S", first_s)

    async def told_to_end() -> bool:
        serving = asyncio.create_task(nats._serve(dict, "nats://127.0.0.1:9", "x", "q"))
        for _ in range(10):
            await asyncio.sleep(0)
        serving.cancel()
        await asyncio.wait({serving}, timeout=20)
        return serving.cancelled()

    assert asyncio.run(told_to_end())
