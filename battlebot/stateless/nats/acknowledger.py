"""Acknowledges messages that belong to no open question: publishers repeat a message until it is acknowledged."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from contextlib import suppress
from functools import partial

import structlog
from nats.aio.msg import Msg
from nats.errors import Error

from battlebot.stateless.nats.client import NatsClient
from battlebot.stateless.nats.intake import Intake, note

log = structlog.get_logger()

ANSWERS = "bot.publish_event"  # followed by the history's uid: for answers of bots that ignore the reply subject
MOST = 32  # messages read per question
LATE_MOST = 1  # messages read per question once it is over
ROUND_MOST = 8  # messages read per round of the shared intake
ROUND_S = 0.5  # from the beginning of a round to that of the next one, at least
LONGEST_ROUND_S = 30.0  # then the next round begins, even if this one is not full
KEPT = 64  # bots whose intakes stay open after their questions
# prefixes of clients' inboxes, custom ones included; other subjects belong to bots, to others and to NATS itself
INBOXES = ("_INBOX.", "_INBOX_")


async def acknowledge(client: NatsClient, message: Msg) -> None:
    """Acknowledges a message, but only at an inbox: the server may publish to any subject, the sender may not."""
    if message.reply.startswith(INBOXES):
        # not `respond`, which sends the message's headers back
        await client.publish(message.reply, b"")


class Acknowledger:
    """Acknowledges over one connection: with the intakes of questions that are over, and with one shared intake.

    The shared intake takes a few messages per round, so that nobody can make the server read without end. Each of the
    others belongs to one bot: a flood does not keep the late answers of other bots from being acknowledged.
    """

    def __init__(self, client: NatsClient) -> None:
        self._client = client
        self._kept: OrderedDict[str, Intake] = OrderedDict()
        self._acknowledge = partial(acknowledge, client)
        self._rounds = asyncio.create_task(self._run())

    async def keep(self, uid: str, intake: Intake) -> None:
        """Takes over the intake of a question that is over: its bot's answer may come late."""
        if not intake.is_open:
            return
        intake.take = self._acknowledge
        with suppress(Error):
            await intake.end_after(LATE_MOST)
        spare = [self._kept.pop(uid)] if uid in self._kept else []
        self._kept[uid] = intake
        if len(self._kept) > KEPT:
            spare.append(self._kept.popitem(last=False)[1])
        for one in spare:
            await one.close()

    def stop(self) -> None:
        """Ends the rounds."""
        self._rounds.cancel()

    async def _run(self) -> None:
        while not self._client.is_closed:
            began_s = time.monotonic()
            intake = Intake(self._acknowledge, ROUND_MOST)
            try:
                await intake.open(self._client, f"{ANSWERS}.*")
                await intake.full(LONGEST_ROUND_S)
            except Error as error:
                note(error)
            except Exception:
                log.exception("nats.failed")
            await intake.close()
            await asyncio.sleep(max(0.0, began_s + ROUND_S - time.monotonic()))
