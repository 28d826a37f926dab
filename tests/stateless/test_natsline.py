"""The connection to NATS: a server that is not there is nobody's defeat, and may be there later."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest
from cluster import free_port, wait_for
from natsbots import PASS, NatsBot, nats_server, pausable_nats, response, wait_until_listening

from battlebot.stateless.asking import Question, Reply
from battlebot.stateless.nats import link
from battlebot.stateless.nats.bots import NatsBots
from battlebot.stateless.nats.client import NatsClient
from battlebot.stateless.nats.line import NatsLine, NoLine, Silence
from battlebot.stateless.nats.uids import Uids
from battlebot.wire.macondo.history import from_response, request_of
from games import crossword

STATE = crossword.initial_state(["a", "b"], 7, {"challengeRule": "DOUBLE", "lexicon": "enable1"})
REQUEST = request_of(crossword.view(STATE, "a"), "m1", 1000)

UIDS = Uids("sixteen letters and more")

Lines = Callable[..., NatsLine]


@pytest.fixture
def lines() -> Iterator[Lines]:
    """`lines(url)` is a line, which is closed after the test."""
    made: list[NatsLine] = []

    def line(*arguments: Any) -> NatsLine:
        made.append(NatsLine(*arguments))
        return made[-1]

    yield line
    for one in made:
        one.close()


def question(address: str, limit_s: float = 5.0) -> Question:
    """The first question of a match."""
    return Question(address, "crossword", "m1", "a", {"state": crossword.view(STATE, "a")}, limit_s)


def test_nats_that_is_not_there_is_the_servers_own_failure(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bot is not charged, and is asked again. Only the first questions wait for NATS, and not for ever."""
    bots = NatsBots(lines(f"nats://127.0.0.1:{free_port()}"), UIDS, 65_536)
    for patience_s in (0.1, 3600.0):
        monkeypatch.setattr(link, "CONNECT_S", patience_s)
        reply = bots.ask(question("nats://x"))
        assert reply.failure is not None
        assert (reply.failure.code, reply.failure.ours, reply.thinking_s) == ("nats-away", True, 0.0)
        assert bots.is_away()


def test_a_server_that_is_started_may_take_a_moment_to_be_there(lines: Lines) -> None:
    """The first question waits for it."""
    port, asks = free_port(), threading.Event()
    line = lines(f"nats://127.0.0.1:{port}")
    found: list[object] = []

    def ask() -> None:
        asks.set()
        try:
            found.append(line.ask("x", "m1", REQUEST, 1.0))
        except Silence as silence:
            found.append(silence.code)

    asking = threading.Thread(target=ask)
    asking.start()
    assert asks.wait(20)
    with nats_server(port):
        asking.join(30)
    assert found == ["nobody"]


def test_a_server_that_goes_away_meanwhile_is_no_bots_fault(lines: Lines) -> None:
    """The question comes back as the server's failure; over the next server it is answered."""
    port = free_port()
    line = lines(f"nats://127.0.0.1:{port}")
    with nats_server(port) as url:
        wait_until_listening(url)
        bot = NatsBot(url, "x")
        asked = threading.Event()
        bot.plan = lambda history: asked.set()
        found: list[BaseException] = []

        def ask() -> None:
            try:
                line.ask("x", "m1", REQUEST, 3.0)
            except (NoLine, Silence) as error:
                found.append(error)

        asking = threading.Thread(target=ask)
        asking.start()
        assert asked.wait(20)
    asking.join(30)
    assert [type(error) for error in found] == [NoLine]
    with nats_server(port) as url:
        wait_until_listening(url)
        wait_for(lambda: not line.is_away, "the line")
        bot.plan = lambda history: PASS
        for _ in range(10):
            try:
                answer, _ = line.ask("x", "m1", REQUEST, 5.0)
                break
            except (NoLine, Silence):
                continue
        assert from_response(answer)["type"] == "PASS"
        bot.close()


def test_a_server_that_stands_still_for_a_while_is_the_same_connection_afterwards(lines: Lines) -> None:
    """Who was asked meanwhile is asked again; nothing that is asked then goes unheard."""
    with pausable_nats() as server:
        wait_until_listening(server.url)
        bots, bot = NatsBots(lines(server.url), UIDS, 65_536), NatsBot(server.url, "still")
        assert bots.ask(question(bot.address)).value == PASS
        with server.paused():
            reply = bots.ask(question(bot.address, 0.3))
        assert reply.failure is not None
        assert (reply.failure.code, reply.failure.ours) == ("nats-away", True)
        for _ in range(3):
            assert bots.ask(question(bot.address)).value == PASS
        bot.close()


@pytest.mark.parametrize("fresh", [False, True], ids=["connected before", "first connected then"])
def test_bots_need_not_be_back_as_soon_as_nats_is(fresh: bool, lines: Lines) -> None:
    """For a few seconds nobody who is not there loses by it, nor is charged for it; then who is not there is told."""
    port = free_port()
    url = f"nats://127.0.0.1:{port}"
    bots = NatsBots(lines(url), UIDS, 65_536)
    if not fresh:
        with nats_server(port):
            wait_until_listening(url)
            bot = NatsBot(url, "before")
            assert bots.ask(question(bot.address)).value == PASS
            bot.close()
    replies: list[Reply] = []
    with nats_server(port):
        wait_until_listening(url)
        asking = threading.Thread(target=lambda: replies.append(bots.ask(question("nats://back", 1.5))))
        asking.start()
        time.sleep(2.5)  # not to wait for something: the bot is away, for longer than its own time
        assert replies == []
        bot = NatsBot(url, "back")
        asking.join(30)
        assert replies[0].value == PASS
        assert replies[0].thinking_s < 1.5
        bot.close()
        failure = bots.ask(question("nats://nobodys", 0.3)).failure
        assert failure is not None
        assert failure.code == "nobody"


def test_what_nats_was_silent_is_left_to_the_bot(lines: Lines) -> None:
    """It has its whole time beside it, though that is over by the wall's clock when NATS goes on; and no more."""
    with pausable_nats() as server, ExitStack() as stack:
        wait_until_listening(server.url)
        bots, bot = NatsBots(lines(server.url), UIDS, 65_536), NatsBot(server.url, "unhurried")
        stack.callback(bot.close)

        def plan(history: Any) -> Any:
            with server.paused():
                time.sleep(
                    6.2
                )  # not to wait for something: the silence, longer than the bot's time, by less than READ_S
            time.sleep(0.3)  # its own thinking
            return PASS

        bot.plan = plan
        reply = bots.ask(question(bot.address, 6.0))
        assert reply.value == PASS
        assert 0.2 < reply.thinking_s < 6  # the pauses are measured from outside, and not to the millisecond
        bot.plan = lambda history: plan(history) and None
        reply = bots.ask(question(bot.address, 6.0))
        assert reply.failure is not None
        assert (reply.failure.code, reply.failure.late) == ("timeout", True)


def test_the_bots_time_is_its_own_and_ends(lines: Lines) -> None:
    """What it takes is told; at its limit it is late."""
    with nats_server() as url:
        wait_until_listening(url)
        bots, bot = NatsBots(lines(url), UIDS, 65_536), NatsBot(url, "slow")
        bot.plan = lambda history: time.sleep(0.3) or PASS
        reply = bots.ask(question(bot.address))
        assert reply.value == {"type": "PASS"}
        assert 0.2 < reply.thinking_s < 3  # the pauses are measured from outside, and not to the millisecond
        bot.plan = lambda history: None
        reply = bots.ask(question(bot.address, 0.5))
        assert reply.failure is not None
        assert (reply.failure.code, reply.failure.late) == ("timeout", True)
        assert reply.thinking_s >= 0.5
        bot.close()


class Stall:
    """Keeps the loop of a line from everything for a while, as a pause of its process does."""

    def __init__(self) -> None:
        self.line: NatsLine | None = None
        self.late_s = 0.0
        self.over = threading.Event()

    def begin(self, seconds: float, known: bool) -> None:
        """`known`: this process finds that it was late."""
        assert self.line is not None
        assert self.line._loop is not None

        def hold() -> None:
            time.sleep(seconds)
            self.late_s += seconds if known else 0.0
            self.over.set()

        self.line._loop.call_soon_threadsafe(hold)


@pytest.mark.parametrize("publishes", [False, True], ids=["by reply", "published"])
@pytest.mark.parametrize("known", [False, True], ids=["unnoticed", "noticed"])
def test_an_answer_that_lies_there_when_a_paused_process_goes_on_counts(
    known: bool, publishes: bool, lines: Lines
) -> None:
    """It is read before the bot is called late, behind what else lies there; it is not charged where that is known."""
    stall = Stall()
    with nats_server() as url:
        wait_until_listening(url)
        stall.line = lines(url, lambda: stall.late_s)
        bots, bot = NatsBots(stall.line, UIDS, 65_536), NatsBot(url, "prompt", publishes)

        def plan(history: Any) -> Any:
            stall.begin(3.0, known)
            bot.shout("bot.publish_event.nobodys", bytes(1000), 500)
            return PASS

        bot.plan = plan
        reply = bots.ask(question(bot.address, 1.0))
        assert stall.over.is_set()
        assert reply.value == PASS
        assert (reply.thinking_s < 1) is known
        bot.close()


def test_what_a_paused_process_was_late_is_left_to_the_bot(lines: Lines) -> None:
    """It has its whole time, though that is over by the wall's clock when the process goes on."""
    stall = Stall()
    with nats_server() as url:
        wait_until_listening(url)
        stall.line = lines(url, lambda: stall.late_s)
        bots, bot = NatsBots(stall.line, UIDS, 65_536), NatsBot(url, "patient")

        def plan(history: Any) -> Any:
            stall.begin(3.0, True)
            return (stall.over.wait(20) and time.sleep(0.2)) or PASS

        bot.plan = plan
        reply = bots.ask(question(bot.address, 2.5))
        assert reply.value == PASS
        assert reply.thinking_s < 2.5
        bot.plan = lambda history: stall.begin(3.0, True)
        reply = bots.ask(question(bot.address, 0.5))
        assert reply.failure is not None
        assert (reply.failure.code, reply.thinking_s < 3) == ("timeout", True)
        bot.close()


def test_an_answer_that_comes_too_late_is_acknowledged_all_the_same(lines: Lines) -> None:
    """Else its bot would send it for ever."""
    with nats_server() as url:
        wait_until_listening(url)
        line, bot = lines(url), NatsBot(url, "late", publishes=True)
        go_on = threading.Event()
        bot.plan = lambda history: go_on.wait(20) and PASS
        with pytest.raises(Silence):
            line.ask("late", "m1", REQUEST, 0.2)
        go_on.set()
        wait_for(lambda: bot.acknowledged, "the acknowledgement")
        assert bot.acknowledged == 1
        bot.close()


def test_a_line_that_is_started_acknowledges_before_anybody_is_asked(lines: Lines) -> None:
    """From when NATS is there, and again when it is back: bots repeat what they published until then."""
    port = free_port()
    lines(f"nats://127.0.0.1:{port}").start()
    for _ in range(2):
        with nats_server(port) as url:
            wait_until_listening(url)
            with closing(NatsBot(url, "early", publishes=True)) as bot:
                bot.publish("of-before", PASS)
                assert bot.acknowledged == 1


def test_only_what_counts_of_an_event_is_kept(lines: Lines) -> None:
    """Not its rack, nor what it thinks that it has scored."""
    event = {"type": "EXCHANGE", "exchanged": "AB", "rack": "ABC", "score": 99, "player_index": 1}
    reply = NatsBots(lines(f"nats://127.0.0.1:{free_port()}"), UIDS, 65_536)._judged(response(event), 0.1)
    assert reply.value == {"type": "EXCHANGE", "exchanged": "AB"}


def test_a_line_goes_on_though_a_cancellation_is_lost(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    """As asyncio's wait_for lets it happen where it comes as an attempt fails; then nobody would be asked."""

    async def deaf(*arguments: Any, **options: Any) -> None:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            await asyncio.sleep(3600)

    with monkeypatch.context() as patched:
        patched.setattr(NatsClient, "connect", deaf)
        line = lines("nats://127.0.0.1:9")
        found: list[Exception] = []

        def ask() -> None:
            try:
                line.ask("x", "m1", REQUEST, 1.0)
            except NoLine as error:
                found.append(error)

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        asking.join(60)
    assert [str(error) for error in found] == ["NATS does not answer (TimeoutError)."]


def test_a_connection_that_nats_has_ended_for_good_is_made_anew(lines: Lines) -> None:
    """As it ends one for what it takes for a fault; no restart is needed."""
    with nats_server() as url:
        wait_until_listening(url)
        line, bot = lines(url), NatsBot(url, "anew")
        assert from_response(line.ask(bot.subject, "m1", REQUEST, 5.0)[0])["type"] == "PASS"
        assert line._link.client is not None
        assert line._loop is not None
        asyncio.run_coroutine_threadsafe(line._link.client.close(), line._loop).result(20)
        assert from_response(line.ask(bot.subject, "m1", REQUEST, 5.0)[0])["type"] == "PASS"
        bot.close()
