"""What others may send through a real nats-server and nats-py does not expect: it breaks, forges and delays nothing."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from cluster import wait_for
from nats.errors import ProtocolError
from natsbots import PASS, NatsBot, arrival, response

from battlebot.stateless.nats.acknowledger import ROUND_MOST
from battlebot.stateless.nats.client import LONGEST_LINE, NatsClient, Parser
from battlebot.stateless.nats.line import NatsLine, Silence
from battlebot.wire.macondo.history import from_response, request_of
from games import crossword

STATE = crossword.initial_state(["a", "b"], 7, {"challengeRule": "DOUBLE", "lexicon": "enable1"})
REQUEST = request_of(crossword.view(STATE, "a"), "own", 1000)


def pub(subject: bytes, data: bytes, reply: bytes = b"") -> bytes:
    """A message as it is published."""
    return b"PUB %s %s %d\r\n%s\r\n" % (subject, reply, len(data), data)


def hpub(subject: bytes, headers: bytes, data: bytes = b"") -> bytes:
    """A message with headers."""
    return b"HPUB %s %d %d\r\n%s%s\r\n" % (subject, len(headers), len(headers) + len(data), headers, data)


# to the subject in the place of %s
ODD: dict[str, bytes] = {
    "a form feed in the subject": pub(b"bot.publish_event.a\x0cb", b"x"),
    "a form feed and a number in the subject": pub(b"bot.publish_event.a\x0b3", b"x"),
    "a form feed in the reply subject": pub(b"%s", b"x", b"_INBOX.a\x0cb"),
    "a subject that is no text": pub(b"bot.publish_event.\xff\xfe", b"x"),
    "a reply subject that is no text": pub(b"%s", b"x", b"_INBOX.\xff"),
    "a reply subject of wildcards": pub(b"%s", b"x", b"_INBOX.>"),
    "a reply subject of nothing": pub(b"%s", b"x", b"_INBOX..."),
    "headers that are too short": hpub(b"%s", b"x"),
    "headers whose status is no text": hpub(b"%s", b"NATS/1.0 \xff\xff\xff\r\n\r\n"),
    "headers that are no text": hpub(b"%s", b"NATS/1.0\r\n\xff\xfe: \xff\r\n\r\n"),
    "headers without an end": hpub(b"%s", b"NATS/1.0\r\na: b"),
}


@pytest.fixture
def bot(nats_url: str) -> Iterator[NatsBot]:
    """A bot that answers with a pass, by reply."""
    made = NatsBot(nats_url, "odd.bot")
    yield made
    made.close()


@pytest.fixture
def raw(nats_url: str) -> Iterator[socket.socket]:
    """A connection of somebody's who may publish."""
    host, _, port = nats_url.removeprefix("nats://").partition(":")
    with socket.create_connection((host, int(port))) as made:
        made.sendall(b'CONNECT {"verbose": false, "headers": true}\r\n')
        yield made


def subscriptions(pages: int) -> list[dict[str, Any]]:
    """The server's subscriptions, as NATS knows them."""
    with urllib.request.urlopen(f"http://127.0.0.1:{pages}/connz?subs=detail", timeout=30) as answer:
        (own,) = [one for one in json.load(answer)["connections"] if one.get("name") == "battlebot"]
    return list(own["subscriptions_list_detail"])


def numbers(pages: int) -> set[str]:
    """Of the server's subscriptions."""
    return {one["sid"] for one in subscriptions(pages)}


def client_of(line: NatsLine) -> NatsClient:
    """The connection of a line that has one; it is closed for good when anything goes wrong with it."""
    assert line._link.client is not None
    return line._link.client


class Asking:
    """A question that is under way; `ended` is what came of it."""

    def __init__(self, line: NatsLine, subject: str, uid: str, limit_s: float) -> None:
        self.ended: list[Any] = []
        self._thread = threading.Thread(target=self._ask, args=(line, subject, uid, limit_s))
        self._thread.start()

    def join(self) -> Any:
        """Its end."""
        self._thread.join(60)
        return self.ended[0]

    def _ask(self, line: NatsLine, subject: str, uid: str, limit_s: float) -> None:
        try:
            self.ended.append(line.ask(subject, uid, REQUEST, limit_s)[0])
        except Exception as error:
            self.ended.append(error)


@pytest.mark.parametrize("name", ODD)
def test_odd_messages_break_nothing(name: str, line: NatsLine, bot: NatsBot, raw: socket.socket) -> None:
    """The connection stays, a question beside them is answered, and acknowledgements go on."""
    asked, answers = threading.Event(), threading.Event()
    bot.plan = lambda history: bool(asked.set()) or (answers.wait(60) and PASS)
    asking = Asking(line, bot.subject, "own", 30.0)
    assert asked.wait(20)
    client = client_of(line)
    # more than a round takes, before and behind one another, whatever they come with
    raw.sendall(ODD[name].replace(b"%s", b"bot.publish_event.x") * (ROUND_MOST + 1))
    bot.publish("nobodys", PASS)
    answers.set()
    assert from_response(asking.join())["type"] == "PASS"
    assert bot.acknowledged == 1
    assert not client.is_closed


@pytest.mark.parametrize("name", [name for name in ODD if b"%s" in ODD[name]])
def test_odd_messages_to_a_question_are_its_bots_own(
    name: str, line: NatsLine, bot: NatsBot, raw: socket.socket
) -> None:
    """What it has published counts, whatever stands beside it."""
    asked = threading.Event()
    bot.plan = lambda history: asked.set()
    asking = Asking(line, bot.subject, "own", 30.0)
    assert asked.wait(20)
    client = client_of(line)
    raw.sendall(ODD[name].replace(b"%s", b"bot.publish_event.own"))
    assert asking.join() in (b"x", b"")
    assert not client.is_closed


def test_nobody_can_choose_the_subscription_that_receives_a_message(
    line: NatsLine, bot: NatsBot, raw: socket.socket
) -> None:
    """Its number stands behind the subject, in which what nats-py takes for a blank is none."""
    bot.plan = lambda history: None
    asking = Asking(line, bot.subject, "own", 3.0)
    wait_for(lambda: bot.asked, "the question")
    for number in range(1, 40):
        raw.sendall(pub(b"bot.publish_event.a\x0c%d" % number, response(PASS)))
    assert isinstance(asking.join(), Silence)
    # and nobody can use up the round: the server and the client count alike
    bot.publish("nobodys", PASS)
    assert bot.acknowledged == 1


def test_headers_that_are_dear_to_read_gain_no_time(line: NatsLine, bot: NatsBot, raw: socket.socket) -> None:
    """Nobody reads them."""
    asked = threading.Event()
    bot.plan = lambda history: asked.set()
    asking = Asking(line, bot.subject, "own", 2.0)
    assert asked.wait(20)
    dear = hpub(b"bot.publish_event.x", b"NATS/1.0\r\n" + b"a:\r\n" * 240_000 + b"\r\n")
    for _ in range(2 * ROUND_MOST):
        raw.sendall(dear)
    assert isinstance(asking.join(), Silence)
    # where each was taken apart, as much as it took was added to the bot's time: half a second and more
    assert line._pulse.silent_s < 0.5


def test_a_subscription_that_is_not_known_is_ended(pages: int, line: NatsLine, bot: NatsBot) -> None:
    """As nats-py may leave one behind, without an end, when it connects again in a flood."""
    line.ask(bot.subject, "own", REQUEST, 20.0)
    client, loop = client_of(line), line._loop
    assert loop is not None
    asyncio.run_coroutine_threadsafe(client._send_command(b"SUB bot.publish_event.nobodys 7777\r\n"), loop).result(20)
    asyncio.run_coroutine_threadsafe(arrival(client), loop).result(20)
    assert "7777" in numbers(pages)
    bot.publish("nobodys", PASS)
    wait_for(lambda: "7777" not in numbers(pages), "the end of the subscription")


def test_when_a_question_is_over_one_message_more_reaches_the_server(pages: int, line: NatsLine, bot: NatsBot) -> None:
    """Of its bot: else who has been asked often could send as much as fills the connection."""
    line.ask(bot.subject, "own", REQUEST, 20.0)

    def left() -> list[int]:
        return [one["max"] for one in subscriptions(pages) if one["subject"] == "bot.publish_event.own"]

    wait_for(lambda: left() == [1], "the end of the subscription")


class Heard:
    """Notes what a parser finds."""

    def __init__(self) -> None:
        self.found: list[Any] = []

    async def _process_msg(self, *found: Any) -> None:
        self.found.append(found)

    async def _process_ping(self) -> None:
        self.found.append("ping")

    async def _process_err(self, sentence: str) -> None:
        self.found.append(sentence)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_however_it_is_cut_it_is_read_alike(size: int) -> None:
    """Byte by byte, or all at once."""
    sent = b"MSG a 1 3\r\nabc\r\nPING\r\nHMSG a\x0c9 2 r 4 6\r\nheadda\r\n+OK\r\n-ERR 'No'\r\nMSG b 3 r 0\r\n\r\n"
    heard = Heard()
    parser = Parser(heard)  # type: ignore[arg-type]

    async def feed() -> None:
        for start in range(0, len(sent), size):
            await parser.parse(sent[start : start + size])

    asyncio.run(feed())
    assert heard.found == [
        (1, b"a", b"", b"abc", b""),
        "ping",
        (2, b"a\x0c9", b"r", b"da", b"head"),
        "'No'",
        (3, b"b", b"r", b"", b""),
    ]


NEVER_SENT = {
    "an unknown word": b"NOPE\r\n",
    "a message without numbers": b"MSG\r\nabc\r\n",
    "a message without a subscription": b"MSG 1\r\nabc\r\n",
    "a size that is no number": b"MSG a 1 x\r\nabc\r\n",
    "a size below nothing": b"MSG a 1 -5\r\nabcdefg\r\n",
    "headers longer than all": b"HMSG a 1 4 2\r\nabcdefg\r\n",
    "a line without end": b"x" * (LONGEST_LINE + 1),
}


@pytest.mark.parametrize("name", NEVER_SENT)
def test_what_no_server_sends_ends_the_connection(name: str) -> None:
    """By the one error at which it is made anew; nothing of it is taken for a message."""
    heard = Heard()
    with pytest.raises(ProtocolError):
        asyncio.run(Parser(heard).parse(NEVER_SENT[name]))  # type: ignore[arg-type]
    assert heard.found == []
