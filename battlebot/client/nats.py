"""Serves a decision function as a stateless bot over NATS: receives BotRequests on a subject, sends BotResponses."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error

from battlebot.client.backoff import HEALTHY_S, Backoff
from battlebot.client.errors import BadAddress
from battlebot.client.nats_link import Link, parse_nats_url
from battlebot.wire.macondo.history import from_request, to_response
from battlebot.wire.macondo.subject import problem_of

log = logging.getLogger("battlebot.client")

SUBJECT, QUEUE = "bot.commands", "bot_queue"  # as in the original; the bots of one queue group share its questions
ANSWERS = "bot.publish_event"  # followed by the history's uid, for requests without a reply subject
AGAIN_S = 1.0  # before an unacknowledged answer is sent again
MOST_TRIES = 20

Decide = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def serve_nats(decide: Decide, url: str, subject: str = SUBJECT, queue: str = QUEUE) -> None:
    """Answer every history received on the subject with the event that `decide` returns, until Ctrl-C.

    `decide` may be called from several threads at once. Its exceptions are sent to the server as the bot's error.
    If NATS cannot be reached, or the connection is lost, it keeps trying to connect. Raises a ClientError if that is of
    no use: BadAddress (the URL, the subject or the queue group), LoginFailed, Refused or Unreachable.
    """
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(decide, url, subject, queue))


async def _serve(decide: Decide, url: str, subject: str, queue: str) -> None:
    address = parse_nats_url(url)
    if problem := problem_of(subject):
        raise BadAddress(f"{subject!r}: {problem}")
    if queue.split() not in ([queue], []):
        raise BadAddress(f"{queue!r} is not a queue group: its name has no spaces.")
    backoff, at_work = Backoff(), set[asyncio.Task[None]]()
    while True:
        link = Link(address, subject)

        async def asked(message: Msg, client: Client = link.client) -> None:
            task = asyncio.create_task(_answer(client, decide, message))
            at_work.add(task)
            task.add_done_callback(at_work.discard)

        began_s = time.monotonic()
        try:
            await link.open()
            await link.listen(queue, asked)
            log.info('listening at %s; to play, register it with {"url": "nats://%s"}', address.server, subject)
            await link.ended()
        finally:
            await link.close()
        if time.monotonic() - began_s > HEALTHY_S:
            backoff.reset()
        wait_s = backoff.next_s()
        log.warning("%s has ended the connection; connecting again in %.1f s", address.server, wait_s)
        await asyncio.sleep(wait_s)


async def _answer(client: Client, decide: Decide, message: Msg) -> None:
    uid, answer = await asyncio.to_thread(_decided, decide, message.data)
    if message.reply:
        try:
            await message.respond(answer)
        except Error as error:
            log.warning("an answer cannot be sent: %s", error)
        return
    for _ in range(MOST_TRIES):
        try:
            await client.request(f"{ANSWERS}.{uid}", answer, timeout=AGAIN_S)
            return
        except (TimeoutError, Error):
            await asyncio.sleep(AGAIN_S / 10)
    log.warning("nobody has acknowledged an answer")


def _decided(decide: Decide, data: bytes) -> tuple[str, bytes]:
    uid, players = "", ""
    try:
        history, _ = from_request(data)
        uid = history.get("uid", "")
        players = " - ".join(player.get("nickname", "") for player in history.get("players", ()))
        return uid, to_response(decide(history), uid=uid)
    except Exception as error:
        # do not log the uid: anybody who knows it can answer for this bot
        log.exception("no answer in the match %s", players)
        return uid, to_response(None, f"{type(error).__name__}: {error}", uid)
