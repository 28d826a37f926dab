"""The pauses of addresses that fail, over a real Valkey; the clock is the test's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis
from clocks import Clock

from battlebot.config import Settings
from battlebot.errors import Unavailable
from battlebot.redisio import keys
from battlebot.redisio.connection import connect
from battlebot.stateless.asking import Failure, Question, Reply
from battlebot.stateless.health import FAILURES, FIRST_PAUSE_S, LATENCIES, LONGEST_PAUSE_S, PAUSED_AFTER, Health

URL = "http://bots.example/a"
START_S = 1_700_000_000.0


@pytest.fixture
def clock() -> Clock:
    """The test's clock."""
    return Clock(START_S)


@pytest.fixture
def health(settings: Settings, clock: Clock) -> Iterator[Health]:
    """Over the emptied Valkey."""
    client = connect(settings.redis_url)
    yield Health(client, clock)
    client.close()


def answered(health: Health, url: str, thinking_s: float) -> None:
    """Notes an answer of a bot; writes nothing yet."""
    health.note(Question(url, "battlecube", "m", "a", {}, 5.0), Reply(None, None, thinking_s))


def note(health: Health, good: bool, bot: str = "a") -> list[str]:
    """One answer of a bot, or one failure, written; who is paused by it."""
    failure = None if good else Failure("bad-status", "The answer's status is 500, not 200.")
    health.note(Question(URL, "battlecube", "m", bot, {}, 5.0), Reply(None, failure, 0.1))
    return health.flush()


def test_only_failures_one_after_another_pause(health: Health, clock: Clock) -> None:
    """An answer between them begins the count anew, and one in a pause ends it."""
    for _ in range(PAUSED_AFTER - 1):
        assert note(health, good=False) == []
    note(health, good=True)
    for _ in range(PAUSED_AFTER - 1):
        assert note(health, good=False) == []
    assert note(health, good=False) == [URL]
    assert health.paused_until_s([URL]) == {URL: START_S + FIRST_PAUSE_S}
    note(health, good=True)
    assert health.paused_until_s([URL]) == {URL: None}


def test_failures_before_an_answer_are_not_in_a_row_with_those_after_it(health: Health) -> None:
    """Also if they are written together: a URL that many matches ask has many answers from one writing to the next."""
    failed = Reply(None, Failure("bad-status", "The answer's status is 500, not 200."), 0.1)
    question = Question(URL, "battlecube", "m", "a", {}, 5.0)
    for _ in range(PAUSED_AFTER - 1):
        health.note(question, failed)
    answered(health, URL, 0.1)
    health.note(question, failed)
    assert health.flush() == []
    assert health.report(URL, "a")["failuresInARow"] == 1
    for _ in range(PAUSED_AFTER - 2):
        health.note(question, failed)
    assert health.flush() == []
    assert note(health, good=False) == [URL]


def test_failures_of_the_server_say_nothing_of_a_url(health: Health) -> None:
    """However many there are: a NATS that is away, say, pauses no bot."""
    for _ in range(PAUSED_AFTER):
        failed = Reply(None, Failure("nats-away", "NATS does not answer.", ours=True, away=True), 0.1)
        health.note(Question(URL, "battlecube", "m", "a", {}, 5.0), failed)
    assert health.flush() == []
    report = health.report(URL, "a")
    assert (report["failures"], report["failuresInARow"], report["answers"]) == ([], 0, 0)


def test_pauses_that_follow_one_another_grow(health: Health, clock: Clock) -> None:
    """Also where the url passes its test, and answers, and fails then; up to an hour. After a good while it is anew."""
    pause_s = FIRST_PAUSE_S
    for _ in range(10):
        until_s = health.pause(URL)
        assert until_s == clock.now_s + pause_s
        clock.now_s = until_s + pause_s / 2
        health.passed(URL)
        assert health.paused_until_s([URL]) == {URL: None}
        note(health, good=True)
        pause_s = min(LONGEST_PAUSE_S, 2 * pause_s)
    assert pause_s == LONGEST_PAUSE_S
    clock.now_s += LONGEST_PAUSE_S
    assert health.pause(URL) == clock.now_s + FIRST_PAUSE_S


def test_what_fails_while_a_pause_lasts_makes_it_no_longer(health: Health, clock: Clock) -> None:
    """Battles that were under way when it began go on, and lose the bot's turns."""
    until_s = health.pause(URL)
    clock.now_s += 1.5
    for _ in range(PAUSED_AFTER):
        note(health, good=False)
    assert health.paused_until_s([URL]) == {URL: until_s}


def test_an_owner_who_mends_a_url_begins_anew(health: Health, clock: Clock) -> None:
    """No pause, no failures, the first pause again."""
    health.pause(URL)
    health.pause(URL)
    health.resume(URL)
    assert health.paused_until_s([URL]) == {URL: None}
    assert health.report(URL, "a")["failuresInARow"] == 0
    assert health.pause(URL) == START_S + FIRST_PAUSE_S


def test_what_is_known_of_an_address_is_forgotten_some_day(health: Health, client: redis.Redis) -> None:
    """Also if its owner resumes it while the server tries whether it answers again."""
    note(health, good=True)
    note(health, good=False)
    assert all(client.ttl(key) > 0 for key in (keys.health(URL), keys.latencies(URL), keys.failures(URL)))
    health.pause(URL)
    health.resume(URL)
    health.passed(URL)
    assert client.ttl(keys.health(URL)) > 0


def test_a_bot_is_shown_the_failures_of_its_own_alone(health: Health) -> None:
    """Another at the same url may be another owner's. All else is of the url."""
    note(health, good=True)
    note(health, good=False)
    note(health, good=False, bot="b")
    report = health.report(URL, "b")
    assert [failure["bot_id"] for failure in report["failures"]] == ["b"]
    assert (report["failuresInARow"], report["answers"], report["p50Ms"], report["p99Ms"]) == (2, 1, 100.0, 100.0)


def test_only_the_latest_answers_and_failures_are_kept(health: Health, clock: Clock) -> None:
    """A url that is asked for days on end is judged by what it does now, and takes no more room."""
    for _ in range(LATENCIES):
        answered(health, URL, 0.1)
    health.flush()
    answered(health, URL, 0.2)
    for _ in range(FAILURES + 1):
        clock.now_s += 1.0
        note(health, good=False)
    report = health.report(URL, "a")
    assert (report["answers"], len(report["failures"])) == (LATENCIES, FAILURES)
    assert report["failures"][0]["at"] == clock.now_s * 1000


def test_percentiles_are_of_the_nearest_rank(health: Health) -> None:
    """Of a hundred answers, the fiftieth and the ninety-ninth, not the slowest."""
    for number in range(100, 0, -1):
        answered(health, URL, number / 1000)
    health.flush()
    report = health.report(URL, "a")
    assert (report["answers"], report["p50Ms"], report["p99Ms"]) == (100, 50.0, 99.0)


def test_what_redis_does_not_take_is_written_later(health: Health, settings: Settings) -> None:
    """All but what was on its way when Redis refused."""
    urls = [f"{URL}{number}" for number in range(3)]
    for url in urls:
        answered(health, url, 0.1)
    client = connect(settings.redis_url)
    client.config_set("maxmemory", 1)
    try:
        with pytest.raises(Unavailable):
            health.flush()
    finally:
        client.config_set("maxmemory", 0)
        client.close()
    health.flush()
    assert [health.report(url, "a")["answers"] for url in urls].count(1) == 2


def test_while_redis_is_away_nothing_is_lost(settings: Settings, tmp_path: Path) -> None:
    """However often it is tried."""
    there = urlsplit(settings.redis_url)
    health = Health(connect(f"unix://{tmp_path}/socket?{there.query}"))
    urls = [f"{URL}{number}" for number in range(3)]
    for url in urls:
        answered(health, url, 0.1)
    for _ in range(3):
        with pytest.raises(Unavailable):
            health.flush()
    (tmp_path / "socket").symlink_to(there.path)
    health.flush()
    assert [health.report(url, "a")["answers"] for url in urls] == [1, 1, 1]
