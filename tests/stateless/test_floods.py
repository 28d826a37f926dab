"""Bots that publish without bound, over a real nats-server: nobody gains or loses by it, and who waits is heard."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from cluster import wait_for
from natsbots import PASS, NatsBot, flood

from battlebot.stateless.nats.acknowledger import KEPT, ROUND_MOST
from battlebot.stateless.nats.line import NatsLine, Silence
from battlebot.stateless.nats.repeats import EventMark
from battlebot.wire.macondo.history import from_response, request_of
from games import crossword

STATE = crossword.initial_state(["a", "b"], 7, {"challengeRule": "DOUBLE", "lexicon": "enable1"})
LIMIT_S = 3.0


def request(uid: str) -> bytes:
    """The first question of a match, of the bot that is called `uid`."""
    return request_of(crossword.view(STATE, "a"), uid, round(LIMIT_S * 1000))


@pytest.fixture
def bot(nats_url: str) -> Iterator[NatsBot]:
    """A bot that publishes its answers; it passes."""
    made = NatsBot(nats_url, "flood.bot", publishes=True)
    yield made
    made.close()


FLOODED = {
    "nobody's subject": lambda bot: "bot.publish_event.x",
    "its own subject": lambda bot: "bot.publish_event.own",
    "where it replies": lambda bot: bot.replied_to[-1],
    "beside where it replies": lambda bot: f"{bot.replied_to[-1].rpartition('.')[0]}.x",
}


@pytest.mark.parametrize("name", FLOODED)
def test_who_floods_gains_no_time(name: str, nats_url: str, line: NatsLine, bot: NatsBot) -> None:
    """It is late at its limit, as any other that says nothing."""
    line.ask(bot.subject, "before", request("before"), 20.0)
    asked, answers = threading.Event(), threading.Event()
    bot.plan = lambda history: bool(asked.set()) or (answers.wait(60) and None)
    ended: list[Any] = []

    def ask() -> None:
        try:
            ended.append(line.ask(bot.subject, "own", request("own"), LIMIT_S))
        except Exception as error:
            ended.append(error)

    began_s = time.monotonic()
    asking = threading.Thread(target=ask)
    asking.start()
    assert asked.wait(20)
    with flood(nats_url, FLOODED[name](bot)):
        asking.join(60)
    took_s = time.monotonic() - began_s
    answers.set()
    if name in ("its own subject", "where it replies"):
        # what it said was an answer, though of nothing but zeros
        answer, _ = ended[0]
        assert answer == bytes(65_537)
    else:
        assert isinstance(ended[0], Silence)
        assert (ended[0].code, ended[0].late) == ("timeout", True)
    assert took_s < LIMIT_S + 6


def test_a_flood_keeps_no_answer_from_counting(nats_url: str, line: NatsLine, bot: NatsBot) -> None:
    """Neither of what comes beside it, nor of its acknowledgement."""
    with flood(nats_url, "bot.publish_event.x"):
        for turn in range(5):
            answer, _ = line.ask(bot.subject, f"own{turn}", request(f"own{turn}"), 20.0)
            assert from_response(answer)["type"] == "PASS"
            wait_for(lambda turn=turn: bot.acknowledged == turn + 1, "the acknowledgement")


def test_an_answer_that_comes_late_is_acknowledged_in_a_flood(nats_url: str, line: NatsLine, bot: NatsBot) -> None:
    """Its bot was asked, and need not stand behind what others publish."""
    bot.replies, bot.publishes = True, False
    line.ask(bot.subject, "own", request("own"), 20.0)
    with flood(nats_url, "bot.publish_event.x"):
        bot.publish("own", PASS)
    assert bot.acknowledged == 1


def test_what_comes_late_is_acknowledged_unread(line: NatsLine, bot: NatsBot) -> None:
    """Its question is over, and nobody asks what it is."""
    bot.plan = lambda history: None
    read: list[bytes] = []
    with pytest.raises(Silence):
        line.ask(bot.subject, "own", request("own"), 0.2, lambda data: bool(read.append(data)) or EventMark.ANSWER)
    bot.publish("own", PASS)
    assert (bot.acknowledged, read) == (1, [])


def test_many_that_publish_to_no_question_are_acknowledged(line: NatsLine, bot: NatsBot) -> None:
    """By and by: each tries again until it is."""
    line.ask(bot.subject, "own", request("own"), 20.0)
    with ExitStack() as stack:
        for number in range(2 * ROUND_MOST):
            publishing = threading.Thread(target=bot.publish, args=(f"other{number}", PASS))
            publishing.start()
            stack.callback(publishing.join)
    assert bot.acknowledged == 2 * ROUND_MOST + 1


def test_a_line_does_not_collect_subscriptions(pages: int, line: NatsLine, bot: NatsBot) -> None:
    """However many bots it has asked."""
    bot.replies, bot.publishes = True, False
    for number in range(KEPT + 20):
        line.ask(bot.subject, f"own{number}", request(f"own{number}"), 20.0)
    bot.plan = lambda history: None
    for number in range(2 * KEPT, 2 * KEPT + 5):
        with pytest.raises(Silence):
            line.ask(bot.subject, f"own{number}", request(f"own{number}"), 0.05)

    def subscriptions() -> int:
        with urllib.request.urlopen(f"http://127.0.0.1:{pages}/connz?subs=1", timeout=30) as answer:
            (own,) = [one for one in json.load(answer)["connections"] if one.get("name") == "battlebot"]
        return int(own["subscriptions"])

    # its own, and the one for everybody
    wait_for(lambda: subscriptions() == KEPT + 2, "the subscriptions that are left")
    for _ in range(3):
        with pytest.raises(Silence):
            line.ask("flood.nobody", "nobodys", request("nobodys"), 0.3)
    wait_for(lambda: subscriptions() == KEPT + 2, "the subscriptions that are left of questions that nobody hears")
