"""Serves a decision function as a stateless bot over NATS: receives BotRequests on a subject, sends BotResponses."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error

from battlebot.wire.macondo.history import from_request, to_response

log = logging.getLogger("battlebot.client")

SUBJECT, QUEUE = "bot.commands", "bot_queue"  # as in the original; the bots of one queue group share its questions
ANSWERS = "bot.publish_event"  # followed by the history's uid, for requests without a reply subject
AGAIN_S = 1.0  # before an unacknowledged answer is sent again
MOST_TRIES = 20
FIRST_S = 2.0  # without a first connection, before a warning is logged

Decide = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def serve_nats(decide: Decide, url: str, subject: str = SUBJECT, queue: str = QUEUE) -> None:
    """Answer every history received on the subject with the event that `decide` returns, until Ctrl-C.

    `decide` may be called from several threads at once. Its exceptions are sent to the server as the bot's error.
    If NATS cannot be reached, or the connection is lost, it keeps trying to connect.
    """
    asyncio.run(_serve(decide, url, subject, queue))


async def _serve(decide: Decide, url: str, subject: str, queue: str) -> None:
    client = await _connected(url, subject)
    at_work: set[asyncio.Task[None]] = set()

    async def asked(message: Msg) -> None:
        task = asyncio.create_task(_answer(client, decide, message))
        at_work.add(task)
        task.add_done_callback(at_work.discard)

    await client.subscribe(subject, queue, cb=asked)
    await client.flush()
    log.info('listening at %s; to play, register it with {"url": "nats://%s"}', _shown(url), subject)
    try:
        await asyncio.Event().wait()
    finally:
        await client.close()


async def _connected(url: str, name: str) -> Client:
    """Wait for the first connection and return the client, which reconnects by itself."""

    async def lost() -> None:
        if not client.is_closed:
            log.info("%s is gone; it is waited for", _shown(url))

    async def back() -> None:
        log.info("%s is back", _shown(url))

    client = Client()
    options: dict[str, Any] = {"max_reconnect_attempts": -1, "reconnect_time_wait": 0.5, "error_cb": _noted}
    options |= {"disconnected_cb": lost, "reconnected_cb": back}
    connecting = asyncio.ensure_future(client.connect(url, name=name, **options))
    try:
        await asyncio.wait({connecting}, timeout=FIRST_S)
        if not connecting.done():
            log.warning("nobody answers at %s yet; it is waited for", _shown(url))
        # not `await connecting`: connect may swallow a cancellation, and would swallow ours as well
        await asyncio.wait({connecting})
    finally:
        while not connecting.done():
            # once is not enough: before Python 3.12 a cancellation is lost if it arrives as an attempt fails
            connecting.cancel()
            await asyncio.wait({connecting}, timeout=AGAIN_S / 10)
    connecting.result()
    return client


def _shown(url: str) -> str:
    """The URL without user and password."""
    scheme, between, rest = url.rpartition("://")
    return scheme + between + rest.rpartition("@")[2]


async def _noted(error: Exception) -> None:
    log.debug("NATS: %s", str(error) or type(error).__name__)


async def _answer(client: Client, decide: Decide, message: Msg) -> None:
    uid, answer = await asyncio.to_thread(_decided, decide, message.data)
    if message.reply:
        await message.respond(answer)
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
