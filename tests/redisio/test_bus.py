"""A node's mailbox over a real Valkey: how it notices that nothing comes any more."""

from __future__ import annotations

import pytest
import redis
from cluster import wait_for
from peer import new_name

from battlebot.errors import Unavailable
from battlebot.redisio import subscription
from battlebot.redisio.bus import UNREAD, Mailbox


class Asked(Mailbox):
    """A mailbox that counts how often it asked itself whether it is dead."""

    asked = 0

    def _is_dead(self) -> bool:
        self.asked += 1
        return super()._is_dead()


class Post:
    """A mailbox, what it has read, and how often it found that it may have missed something."""

    def __init__(self, client: redis.Redis) -> None:
        self.client = client
        self.letters: list[bytes] = []
        self.gaps = 0
        self.beats_in_a_gap = 0
        self.channel = new_name("mailbox")  # a mailbox is read for as long as its process lives
        self.mailbox = Asked(client, self.channel, self.letters.append, self._on_gap)
        self.mailbox.start()

    def _on_gap(self) -> None:
        self.gaps += 1
        self.beats(self.beats_in_a_gap)

    def lose_subscription(self) -> None:
        """Valkey knows of no subscription any more; the mailbox, whose connection stands, still believes in it."""
        connection = self.mailbox._subscription._connection
        assert connection is not None
        connection.send_command("UNSUBSCRIBE", self.channel)
        wait_for(lambda: self.client.publish(self.channel, b"lost") == 0, "the end of the subscription")
        self.waits_in_vain()  # a letter that is read later would be one that comes
        self.letters.clear()

    def beats(self, times: int) -> None:
        """Posts itself so many letters, at once."""
        for _ in range(times):
            self.mailbox.beat()

    def waits_in_vain(self) -> None:
        """All that was posted has been read, and nothing has come since, again and again."""
        asked = self.mailbox.asked
        wait_for(lambda: self.mailbox.asked > asked + 5, "the mailbox to wait in vain")

    def arrives(self, letter: bytes) -> None:
        """A letter that is posted is read in the end."""
        wait_for(lambda: self.client.publish(self.channel, letter) == 1 and letter in self.letters, "a letter")


@pytest.fixture
def post(client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> Post:
    """A mailbox that is quick to ask whether it is dead."""
    monkeypatch.setattr(subscription, "WAIT_S", 0.05)
    return Post(client)


def test_a_mailbox_whose_own_letters_do_not_come_connects_anew(post: Post) -> None:
    """And says that it may have missed something."""
    post.arrives(b"before")
    post.lose_subscription()
    post.beats(UNREAD)
    wait_for(lambda: post.gaps == 1, "the gap")
    post.arrives(b"after")
    assert post.gaps == 1


def test_a_mailbox_to_which_little_was_posted_keeps_its_connection(post: Post) -> None:
    """Redis hangs, or cannot be written to: nothing comes, and nothing should have."""
    post.arrives(b"before")
    post.lose_subscription()
    post.beats(UNREAD - 1)
    post.waits_in_vain()
    assert post.gaps == 0


def test_letters_that_redis_did_not_take_are_not_waited_for(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    """Redis was away for each of them."""
    post.arrives(b"before")
    with monkeypatch.context() as away:
        away.setattr(post.client, "publish", _refused)
        for _ in range(2 * UNREAD):
            with pytest.raises(Unavailable):
                post.mailbox.beat()
    post.waits_in_vain()
    assert post.gaps == 0


def _refused(*_: object) -> None:
    raise redis.ConnectionError("away")


def test_its_own_letters_alone_show_that_it_lives(post: Post) -> None:
    """However little its node is told."""
    for _ in range(3):
        post.beats(UNREAD - 1)
        post.waits_in_vain()
    assert post.gaps == 0


def test_who_looks_long_at_what_was_missed_does_not_lose_the_new_connection(post: Post) -> None:
    """The node beats meanwhile; nothing is read until all its matches have been looked at."""
    post.arrives(b"before")
    post.beats_in_a_gap = UNREAD + 1
    post.client.client_kill_filter(_type="pubsub", skipme=True)
    post.arrives(b"after")
    post.waits_in_vain()
    assert post.gaps == 1


def test_its_own_letters_are_nobody_elses(post: Post) -> None:
    """They show that the mailbox is read, and are not handed on."""
    post.arrives(b"before")
    post.beats(3 * UNREAD)
    post.arrives(b"after")
    assert set(post.letters) == {b"before", b"after"}
    assert post.gaps == 0
