"""Subscriptions over a line to a real Valkey that is cut, and on which subscribing takes its time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest
import redis
from cluster import wait_for
from holding_line import HoldingLine, holding_line
from peer import new_name

from battlebot.config import Settings
from battlebot.errors import Unavailable
from battlebot.redisio import subscription
from battlebot.redisio.bus import MISSED, Bus, Listener, Mailbox
from battlebot.redisio.connection import connect
from battlebot.redisio.subscription import Subscription

LOOKS = 20  # at a connection over which nothing comes


@pytest.fixture
def line(settings: Settings) -> Iterator[HoldingLine]:
    """A way to Valkey."""
    with holding_line(settings.redis_url) as made:
        yield made


@pytest.fixture
def far(line: HoldingLine) -> Iterator[redis.Redis]:
    """A client over that way."""
    made = connect(line.url)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads looks often whether its connection is dead."""
    monkeypatch.setattr(subscription, "WAIT_S", 0.02)


class Letters:
    """What a mailbox has read, and what had been posted when it looked after a gap."""

    def __init__(self, near: redis.Redis, far: redis.Redis) -> None:
        self._near = near
        self._channel = new_name("mailbox")  # a mailbox is read for as long as its process lives
        self.posted: list[bytes] = []
        self.read: list[bytes] = []
        self.known_at_gap: list[list[bytes]] = []
        self.mailbox = Mailbox(far, self._channel, self.read.append, lambda: self.known_at_gap.append([*self.posted]))

    def post(self, letter: bytes) -> int:
        """Answers how many heard it."""
        self.posted.append(letter)
        return int(self._near.publish(self._channel, letter))

    def known(self) -> set[bytes]:
        """What has been read, or was there to be seen when the mailbox said that it may have missed something."""
        return {letter for known in (self.read, *self.known_at_gap) for letter in known}


@pytest.fixture
def letters(client: redis.Redis, far: redis.Redis) -> Letters:
    """A mailbox over that way, not started yet."""
    return Letters(client, far)


def waits_in_vain() -> None:
    """A reader has found again and again that nothing comes."""
    until_s = time.monotonic() + LOOKS * subscription.WAIT_S
    wait_for(lambda: time.monotonic() > until_s)


def test_what_is_posted_before_a_new_subscription_stands_is_looked_after(letters: Letters, line: HoldingLine) -> None:
    """Its node looks when Redis has confirmed it: a letter that nobody hears meanwhile is known by then."""
    letters.mailbox.start()
    line.hold()
    line.end_all()
    assert line.held.wait(10)
    waits_in_vain()
    assert letters.post(b"unheard") == 0
    assert letters.known_at_gap == []
    line.free()
    wait_for(lambda: b"unheard" in letters.known(), "a look at what was missed")
    assert letters.post(b"heard") == 1
    wait_for(lambda: b"heard" in letters.read, "a letter")
    assert len(letters.known_at_gap) == 1


def test_a_mailbox_has_started_when_its_subscription_stands(letters: Letters, line: HoldingLine) -> None:
    """Not when it has been asked for. Nothing was missed then, and nothing is looked after."""
    line.hold()
    starting = threading.Thread(target=letters.mailbox.start, daemon=True)
    starting.start()
    assert line.held.wait(10)
    waits_in_vain()
    assert starting.is_alive()
    line.free()
    starting.join(10)
    assert letters.post(b"first") == 1
    wait_for(lambda: b"first" in letters.read, "the letter")
    assert letters.known_at_gap == []


def test_a_mailbox_that_could_not_start_is_started_again(letters: Letters, line: HoldingLine) -> None:
    """Redis was away; one reader is enough."""

    def readers() -> int:
        return [thread.name for thread in threading.enumerate()].count("mailbox")

    before = readers()
    line.cut()
    for _ in range(2):
        with pytest.raises(Unavailable):
            letters.mailbox.start()
    line.mend()
    letters.mailbox.start()
    assert letters.post(b"first") == 1
    assert readers() == before + 1


def test_a_subscription_that_is_not_confirmed_is_asked_for_anew(
    letters: Letters, line: HoldingLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was said over the first connection has got lost; its end has, too."""
    monkeypatch.setattr(subscription, "CONFIRMED_IN_S", 0.2)
    line.hold()
    with pytest.raises(Unavailable):
        letters.mailbox.start()
    line.held.clear()
    assert line.held.wait(10), "another connection"
    line.free()
    wait_for(lambda: letters.post(b"letter") == 1 and b"letter" in letters.read, "a letter")


def test_who_listens_misses_nothing_from_then_on(client: redis.Redis, far: redis.Redis, line: HoldingLine) -> None:
    """Also where Redis takes its time to confirm it."""
    bus, channel, heard = Bus(far), new_name("channel"), []

    def listen() -> None:
        with bus.listen(channel) as listener:
            client.publish(channel, b"first")
            heard.append(listener.get(10))

    line.hold()
    listening = threading.Thread(target=listen, daemon=True)
    listening.start()
    assert line.held.wait(10)
    waits_in_vain()
    line.free()
    listening.join(20)
    assert heard == [b"first"]


def test_who_listens_to_what_another_waits_for_waits_as_well(far: redis.Redis, line: HoldingLine) -> None:
    """One subscription for both, and both are let in when it stands."""
    bus, channel, let_in = Bus(far), new_name("channel"), []
    over = threading.Event()

    def listen() -> None:
        with bus.listen(channel):
            let_in.append(channel)
            over.wait(20)

    line.hold()
    for _ in range(2):
        threading.Thread(target=listen, daemon=True).start()
    assert line.held.wait(10)
    waits_in_vain()
    assert let_in == []
    line.free()
    wait_for(lambda: len(let_in) == 2, "both")
    over.set()


def test_listeners_are_told_when_they_may_have_missed_something(
    client: redis.Redis, far: redis.Redis, line: HoldingLine
) -> None:
    """Those of each channel, when it is heard again."""
    bus, channels = Bus(far), [new_name("channel") for _ in range(3)]
    with ExitStack() as stack:
        listeners = [stack.enter_context(bus.listen(channel)) for channel in channels]
        line.end_all()
        assert [listener.get(10) for listener in listeners] == [MISSED] * 3
        assert [int(client.publish(channel, b"after")) for channel in channels] == [1] * 3
        assert [listener.get(10) for listener in listeners] == [b"after"] * 3


def test_listeners_hear_again_where_a_connection_is_dead_and_nobody_says_so(
    client: redis.Redis, far: redis.Redis, line: HoldingLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine between has gone: a ping is not answered. One that is answered ends nothing."""
    monkeypatch.setattr(subscription, "PING_AFTER_S", 0.1)
    bus, channel = Bus(far), new_name("channel")
    with bus.listen(channel) as listener:
        assert listener.get(1) is None
        line.mute()
        assert listener.get(20) == MISSED
        assert client.publish(channel, b"after") >= 1
        assert listener.get(10) == b"after"


def test_a_confirmation_for_who_has_gone_lets_nobody_else_in(
    client: redis.Redis, far: redis.Redis, line: HoldingLine
) -> None:
    """Redis hears that it went after that, and what is said until it hears of the other one would be lost."""
    channel = new_name("channel")
    made = Subscription(far, "reader", lambda channel, data: None, lambda channel: None)
    line.hold()
    made.want(channel)
    assert line.held.wait(10)
    made.unwant(channel)
    made.want(channel)
    waiting = threading.Thread(target=made.wait_for, args=(channel,), daemon=True)
    waiting.start()
    line.let_one_pass()
    assert line.held.wait(10)
    waits_in_vain()
    assert client.pubsub_numsub(channel)[0][1] == 1
    assert waiting.is_alive()
    line.free()
    waiting.join(10)
    assert not waiting.is_alive()


def test_a_letter_that_cannot_be_dealt_with_ends_no_connection(client: redis.Redis, far: redis.Redis) -> None:
    """Whatever was raised: it is logged, and the next one is read."""
    channel, read, gaps = new_name("mailbox"), [], []

    def take(letter: bytes) -> None:
        read.append(letter)
        raise AttributeError("no such thing")

    mailbox = Mailbox(far, channel, take, lambda: gaps.append(channel))
    mailbox.start()
    for letter in (b"first", b"second"):
        client.publish(channel, letter)
    wait_for(lambda: read == [b"first", b"second"], "both")
    waits_in_vain()
    assert gaps == []


def test_who_goes_away_while_redis_is_away_leaves_no_subscription(
    client: redis.Redis, far: redis.Redis, line: HoldingLine
) -> None:
    """Who stays is subscribed again, and nobody else."""
    bus, left, kept = Bus(far), new_name("channel"), new_name("channel")
    with ExitStack() as stack:
        listener = stack.enter_context(bus.listen(kept))
        with bus.listen(left):
            line.cut()
        line.mend()
        assert listener.get(10) == MISSED
        assert client.pubsub_numsub(kept, left) == [(kept.encode(), 1), (left.encode(), 0)]


def test_who_was_not_let_in_leaves_no_subscription(
    client: redis.Redis, far: redis.Redis, line: HoldingLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redis took too long to confirm it, and confirms it in the end."""
    bus, channel, other = Bus(far), new_name("channel"), new_name("channel")
    with bus.listen(other):
        line.hold()
        with monkeypatch.context() as hasty:
            hasty.setattr(subscription, "CONFIRMED_IN_S", 0.2)
            with pytest.raises(Unavailable):
                bus.listen(channel).__enter__()
        line.free()
        with bus.listen(other), bus.listen(new_name("channel")):
            assert client.pubsub_numsub(channel)[0][1] == 0


def test_who_comes_and_goes_in_many_threads_while_the_line_breaks_is_heard(
    client: redis.Redis, far: redis.Redis, line: HoldingLine
) -> None:
    """Whoever reads alone connects anew: no subscription is lost between two that do, and none is left."""
    bus, channels, over = Bus(far), [new_name("channel") for _ in range(8)], threading.Event()
    listeners: dict[str, Listener] = {}

    def come_and_go(channel: str) -> None:
        while not over.is_set():
            with suppress(Unavailable), bus.listen(channel):
                pass
        while channel not in listeners:
            with suppress(Unavailable):
                listeners[channel] = stack.enter_context(bus.listen(channel))

    with ExitStack() as stack:
        visitors = [threading.Thread(target=come_and_go, args=(channel,), daemon=True) for channel in channels]
        for visitor in visitors:
            visitor.start()
        for _ in range(10):
            line.end_all()
            wait_for(lambda: sum(heard for _, heard in client.pubsub_numsub(*channels)), "somebody who listens")
        over.set()
        for visitor in visitors:
            visitor.join(20)
        for channel in channels:
            wait_for(lambda: client.publish(channel, b"all") == 1 and listeners[channel].get(1) == b"all", channel)  # noqa: B023
    wait_for(lambda: not any(heard for _, heard in client.pubsub_numsub(*channels)), "the end of all subscriptions")


def test_a_broken_line_is_connected_anew_by_its_reader_alone(
    client: redis.Redis, far: redis.Redis, line: HoldingLine
) -> None:
    """Not by who wants a channel meanwhile: it would wait for answers that the reader takes."""
    reads, goes_on = threading.Event(), threading.Event()

    def on_message(channel: str, data: bytes) -> None:
        reads.set()
        goes_on.wait(20)

    first, *others = (new_name("channel") for _ in range(20))
    heard = Subscription(far, "reader", on_message, lambda channel: None)
    heard.want(first)
    heard.wait_for(first)
    client.publish(first, b"a letter that takes long to deal with")
    assert reads.wait(20)
    before = line.connections
    line.end_all()
    for channel in others:
        heard.want(channel)
    assert line.connections == before
    goes_on.set()
    wait_for(lambda: all(count for _, count in client.pubsub_numsub(first, *others)), "all to be heard")


def test_a_connection_that_ends_while_a_letter_is_dealt_with_is_made_anew(letters: Letters) -> None:
    """By somebody else who found it broken: redis-py connects again by itself, and hears nothing then."""
    reading, mailbox = letters.mailbox._on_mail, letters.mailbox

    def take(letter: bytes) -> None:
        reading(letter)
        if letter == b"last":
            connection = mailbox._subscription._connection
            assert connection is not None
            connection.disconnect()

    mailbox._on_mail = take
    mailbox.start()
    letters.post(b"last")
    wait_for(lambda: len(letters.known_at_gap) == 1, "a look at what was missed")
    assert letters.post(b"next") == 1
    wait_for(lambda: b"next" in letters.read, "the next letter")
