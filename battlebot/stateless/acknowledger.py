"""Acknowledges what is published to no question, or no more: who published it goes on until somebody does."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import suppress

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error

from battlebot.stateless.inlet import Inlet

ANSWERS = "bot.publish_event"  # followed by the history's uid: where bots answer that do not look at the reply subject
MOST = 8  # messages that are read of a question, and of what belongs to none in a round
ROUND_S = 0.5
KEPT = 256  # bots whose inlets stay open after their questions
# what clients' inboxes begin with, also those of a prefix of their own; elsewhere bots listen, and others, and NATS
INBOXES = ("_INBOX.", "_INBOX_")


async def acknowledge(message: Msg) -> None:
    """Answers a message at an inbox, nowhere else: the server may publish anywhere, which its sender may not."""
    if message.reply.startswith(INBOXES):
        await message.respond(b"")


class Acknowledger:
    """Acknowledges over one connection: by the inlets of questions that are over, and by one for everybody.

    The one for everybody takes MOST messages a round, so that nobody makes the server read without end. The others are
    each bot's own: a flood keeps nobody else from the acknowledgement of an answer that came late.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._kept: OrderedDict[str, Inlet] = OrderedDict()
        self._rounds = asyncio.create_task(self._run())

    async def keep(self, uid: str, inlet: Inlet) -> None:
        """Takes over the inlet of a question that is over, with what it may still take."""
        inlet.take = acknowledge
        spare = [self._kept.pop(uid)] if uid in self._kept else []
        self._kept[uid] = inlet
        if len(self._kept) > KEPT:
            spare.append(self._kept.popitem(last=False)[1])
        for one in spare:
            await one.close()

    def stop(self) -> None:
        """Ends the rounds; the connection is to be closed."""
        self._rounds.cancel()

    async def _run(self) -> None:
        while not self._client.is_closed:
            inlet = Inlet(acknowledge, MOST)
            with suppress(Error):
                await inlet.open(self._client, f"{ANSWERS}.*")
                await inlet.full()
            await asyncio.sleep(ROUND_S)
