"""Acknowledges what is published to no question, or no more: who published it goes on until somebody does."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from contextlib import suppress
from functools import partial

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error

from battlebot.stateless.inlet import Inlet, note

log = structlog.get_logger()

ANSWERS = "bot.publish_event"  # followed by the history's uid: where bots answer that do not look at the reply subject
MOST = 32  # messages that are read of a question
LATE_MOST = 1  # and of its bot afterwards
ROUND_MOST = 8  # messages of those that belong to none
ROUND_S = 0.5  # from the beginning of a round to that of the next one, at least
LONGEST_ROUND_S = 30.0  # then it begins anew, whatever may have become of it
KEPT = 64  # bots whose inlets stay open after their questions
# what clients' inboxes begin with, also those of a prefix of their own; elsewhere bots listen, and others, and NATS
INBOXES = ("_INBOX.", "_INBOX_")


async def acknowledge(client: Client, message: Msg) -> None:
    """Answers a message at an inbox, nowhere else: the server may publish anywhere, which its sender may not."""
    if message.reply.startswith(INBOXES):
        # not `respond`, which sends the message's headers back
        await client.publish(message.reply, b"")


class Acknowledger:
    """Acknowledges over one connection: by the inlets of questions that are over, and by one for everybody.

    The one for everybody takes a few messages a round, so that nobody makes the server read without end. The others
    are each bot's own: a flood keeps nobody else from the acknowledgement of an answer that came late.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._kept: OrderedDict[str, Inlet] = OrderedDict()
        self._acknowledge = partial(acknowledge, client)
        self._rounds = asyncio.create_task(self._run())

    async def keep(self, uid: str, inlet: Inlet) -> None:
        """Takes over the inlet of a question that is over: its bot's answer may come late."""
        if not inlet.is_open:
            return
        inlet.take = self._acknowledge
        with suppress(Error):
            await inlet.end_after(LATE_MOST)
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
            began_s = time.monotonic()
            # what is opened without a connection may be opened twice, the second time without an end
            if self._client.is_connected:
                inlet = Inlet(self._acknowledge, ROUND_MOST)
                try:
                    await inlet.open(self._client, f"{ANSWERS}.*")
                    await inlet.full(LONGEST_ROUND_S)
                except Error as error:
                    note(error)
                except Exception:
                    log.exception("nats.failed")
                await inlet.close()
            await asyncio.sleep(max(0.0, began_s + ROUND_S - time.monotonic()))
