"""One question to one bot behind HTTP, over real sockets: the answer, or what is said of the bot."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from cluster import wait_for
from httpbots import Bots, OneAtATime, http_bots

from battlebot.rules.registry import discover
from battlebot.stateless.asking import TIDY_EVERY_S, Question, Reply
from battlebot.stateless.http.bots import HttpBots
from battlebot.stateless.http.connections import KEPT_S
from battlebot.stateless.http.guard import Guard
from battlebot.stateless.http.location import location_of
from battlebot.stateless.http.waiting import Waiting

pytestmark = pytest.mark.usefixtures("kept_long")

CONTENT = {"gameInfo": {"numOfTasksPerTick": 2}}
NOOPS = [{"task": "NOOP"}] * 2


def asker() -> HttpBots:
    """What asks bots on this machine, with answers of up to 64 kB."""
    return HttpBots(Guard(loopback=True), 65_536, 16)


def asked(url: str, limit_s: float = 10.0, by: HttpBots | None = None) -> Reply:
    """The reply of a bot that has so many seconds."""
    return (by or asker()).ask(Question(url, "battlecube", "match", "bot", CONTENT, limit_s))


@pytest.mark.parametrize("behaviour", ["good", "slow", "old", "chunked", "closing", "twice"])
def test_an_answer_in_any_form_of_http_is_taken(bots: Bots, behaviour: str) -> None:
    """Kept or closed, in one piece or in many, at once or after a while; also for a second question."""
    by = asker()
    for _ in range(3):
        assert asked(bots.url(behaviour), by=by).value == NOOPS
    assert bots.asked[behaviour] == 3


FAILURES = [
    ("dying", "cut-off"),
    ("cut", "cut-off"),
    ("garbled", "bad-json"),
    ("huge", "too-big"),
    ("headed", "too-big"),
    ("failing", "bad-status"),
    ("impatient", "bad-status"),
    ("created", "bad-status"),
    ("moved", "redirect"),
    ("binary", "bad-http"),
]


@pytest.mark.parametrize(("behaviour", "code"), FAILURES)
def test_what_is_no_answer_is_the_bots_failure(bots: Bots, behaviour: str, code: str) -> None:
    """With a code, and a sentence; never the server's own."""
    reply = asked(bots.url(behaviour))
    assert reply.failure is not None
    assert (reply.failure.code, reply.failure.ours, reply.failure.late) == (code, False, False)
    assert reply.failure.sentence.endswith(".")


def test_an_answer_whose_connection_breaks_is_not_whole(bots: Bots) -> None:
    """Though nothing but the end of the connection says where it ends; its owner is told what happened."""
    failure = asked(bots.url("broken")).failure
    assert failure is not None
    assert (failure.code, failure.sentence) == ("cut-off", "The connection broke: Connection reset by peer.")


def test_a_kept_connection_that_breaks_is_as_one_that_ends(bots: Bots) -> None:
    """Without a byte: the bot is asked again over a new one."""
    by = asker()
    for _ in range(2):
        assert asked(bots.url("restarting"), by=by).value == NOOPS
    assert (bots.asked["restarting"], bots.connections) == (3, 2)


def test_a_kept_connection_that_has_broken_before_the_next_question_is_not_used(bots: Bots) -> None:
    """Nor is it a failure, of the bot or of the server."""
    by = asker()
    for _ in range(2):
        assert asked(bots.url("vanishing"), by=by).value == NOOPS
        bots.broken.set()
        wait_for(lambda: bots.asked["vanished"], "the connection's reset")


def test_a_redirect_is_not_followed(bots: Bots) -> None:
    """The bot to which it leads is asked nothing."""
    asked(bots.url("moved"))
    assert bots.asked == {"moved": 1}


@pytest.mark.parametrize("behaviour", ["hanging", "dribbling"])
def test_a_bot_has_its_time_and_no_more(bots: Bots, behaviour: str) -> None:
    """However it spends it: with silence, or a byte now and then."""
    began_s = time.monotonic()
    reply = asked(bots.url(behaviour), 0.5)
    assert reply.failure is not None
    assert (reply.failure.code, reply.failure.late) == ("timeout", True)
    assert reply.thinking_s >= 0.5
    assert time.monotonic() - began_s < 5.0


def test_a_bot_whose_answer_comes_faster_than_it_is_read_has_its_time_and_no_more(bots: Bots) -> None:
    """What comes after it is not read on for as long as there is something."""
    failure = asked(bots.url("flooding/body"), 0.05, HttpBots(Guard(loopback=True), 2**28, 16)).failure
    assert failure is not None
    assert (failure.code, failure.late) == ("timeout", True)


def test_a_bot_that_hangs_up_has_no_more_time(bots: Bots) -> None:
    """It is asked again over a new connection, but within the time that it had from the first."""
    by = asker()
    assert asked(bots.url("stalling"), by=by).value == NOOPS
    reply = asked(bots.url("stalling"), 1.0, by)
    assert reply.thinking_s >= 1.0
    assert reply.failure is not None
    assert (reply.failure.code, reply.failure.late) == ("timeout", True)


def test_a_bot_that_hangs_up_is_charged_for_both_times(bots: Bots) -> None:
    """The answer that it gives when it is asked again took as long as from the first question."""
    by = asker()
    asked(bots.url("stalling"), by=by)
    reply = asked(bots.url("stalling"), by=by)
    assert (reply.value, bots.asked["stalling"]) == (NOOPS, 3)
    assert reply.thinking_s >= 1.2


def test_a_kept_connection_that_is_given_up_with_a_word_is_as_one_without(bots: Bots) -> None:
    """With the status 408 (RFC 9110, 15.5.9), as the question came: it is asked again, in the time of the first."""
    by = asker()
    for _ in range(2):
        reply = asked(bots.url("idle"), by=by)
        assert reply.value == NOOPS
    assert (bots.asked["idle"], bots.connections) == (3, 2)
    assert reply.thinking_s >= 0.3


def test_a_bots_time_is_what_it_took(bots: Bots) -> None:
    """From the question sent to the answer read."""
    assert 0.3 <= asked(bots.url("slow")).thinking_s < 5.0


def test_lateness_of_the_server_is_not_charged(bots: Bots) -> None:
    """Here it says that all of the time was its own."""
    by = HttpBots(Guard(loopback=True), 65_536, 16, time.monotonic)
    assert asked(bots.url("slow"), by=by).thinking_s < 0.1


def test_lateness_by_work_on_the_bots_own_answer_is_charged(bots: Bots) -> None:
    """Here it says that all of the time was its own, but it had 60,000 chunks to read."""
    by = HttpBots(Guard(loopback=True), 65_536, 16, time.monotonic)
    reply = asked(bots.url("crumbled"), by=by)
    assert reply.value == []
    assert reply.thinking_s > 0.001


def test_connections_are_kept(bots: Bots) -> None:
    """Ten questions one after another take one."""
    by = asker()
    for _ in range(10):
        asked(bots.url("good"), by=by)
    assert bots.connections == 1


@pytest.mark.parametrize("behaviour", ["huge", "failing", "moved", "cut", "twice"])
def test_what_came_beside_the_answer_is_not_read_for_the_next(bots: Bots, behaviour: str) -> None:
    """The next question has its own answer."""
    by = asker()
    asked(bots.url(behaviour), by=by)
    assert asked(bots.url("good"), by=by).value == NOOPS


def test_a_second_answer_is_not_taken_for_that_of_another_bot(bots: Bots) -> None:
    """It comes after the next question, which a bot at the same host and port is asked, has been sent."""
    by = asker()
    for _ in range(3):
        asked(bots.url("insisting"), by=by)
        assert asked(bots.url("good"), by=by).value == NOOPS


def test_a_bot_that_says_more_than_it_was_asked_has_a_new_connection_each_time(bots: Bots) -> None:
    """As soon as that is known of it: then none of its answers is taken for another."""
    by = asker()

    def is_known() -> bool:
        before = bots.connections
        for _ in range(3):
            asked(bots.url("insisting"), by=by)
        return bots.connections == before + 3

    wait_for(is_known, "three questions over a connection each")
    assert [asked(bots.url("insisting"), by=by).value for _ in range(5)] == [NOOPS] * 5


def test_bots_that_are_served_by_one_connection_at_a_time_are_asked_one_after_another() -> None:
    """By a server that goes on with the next when the last has ended: none waits for what is kept for another."""
    by = asker()
    with http_bots(OneAtATime) as bots:
        for _ in range(3):
            for behaviour in ("good", "old", "chunked"):
                assert asked(bots.url(behaviour), 5.0, by).value == NOOPS
        # nothing is kept after this, and the server can end
        asked(bots.url("dying"), by=by)


def test_bots_that_are_served_by_one_connection_at_a_time_are_asked_at_once() -> None:
    """As in a battle of theirs: what is kept for one is closed when it turns out that another waits."""
    by = asker()
    with http_bots(OneAtATime) as bots, ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            replies = list(pool.map(lambda one: asked(bots.url(one), by=by), ("good", "good/2", "chunked", "slow")))
            assert [reply.value for reply in replies] == [NOOPS] * 4
        asked(bots.url("dying"), by=by)


def test_bots_at_one_host_and_port_that_are_asked_at_once_have_a_kept_connection_each(bots: Bots) -> None:
    """Where their server serves several at a time, soon no question takes a new one."""
    by = asker()
    urls = [bots.url(f"good/{number}") for number in range(4)]

    def is_kept() -> bool:
        before = bots.connections
        for _ in range(5):
            assert [reply.value for reply in pool.map(lambda url: asked(url, by=by), urls)] == [NOOPS] * 4
        return bots.connections == before

    with ThreadPoolExecutor(4) as pool:
        wait_for(is_kept, "twenty questions over kept connections")


def test_bots_of_several_names_that_are_served_by_one_connection_at_a_time_are_asked_in_time() -> None:
    """It counts where a name leads to: what is kept under one name is closed for who waits under the other."""
    by = asker()
    with http_bots(OneAtATime) as bots:
        urls = [bots.url("good"), bots.url("good", "localhost"), bots.url("chunked"), bots.url("chunked", "localhost")]
        for _ in range(3):
            assert [asked(url, 5.0, by).value for url in urls] == [NOOPS] * 4
        with ThreadPoolExecutor(4) as pool:
            assert [reply.value for reply in pool.map(lambda url: asked(url, 5.0, by), urls)] == [NOOPS] * 4
        asked(bots.url("dying"), by=by)


def test_bots_at_one_host_and_port_that_are_asked_by_turns_have_a_kept_connection_each(bots: Bots) -> None:
    """The question to one closes nothing that is kept for the other, unless it has to wait."""
    by = asker()

    def is_kept() -> bool:
        before = bots.connections
        for _ in range(5):
            for behaviour in ("good", "good/2", "good/3"):
                assert asked(bots.url(behaviour), by=by).value == NOOPS
        return bots.connections == before

    wait_for(is_kept, "fifteen questions over kept connections")


def test_who_has_waited_in_vain_is_in_nobodys_way_any_more(bots: Bots) -> None:
    """What is kept after its question has ended stays."""
    by = asker()
    assert asked(bots.url("hanging"), 0.5, by).failure is not None
    before = bots.connections
    for _ in range(3):
        assert asked(bots.url("good"), by=by).value == NOOPS
    assert bots.connections == before + 1


def test_who_waits_elsewhere_now_is_in_nobodys_way_here(bots: Bots) -> None:
    """As where a name has two addresses, of which the first did not serve."""
    by = asker()
    waiting = Waiting(by.connections)
    waiting.goes_to(("127.0.0.1", bots.server_port))
    waiting.in_vain()
    waiting.goes_to(("127.0.0.2", bots.server_port))
    waiting.in_vain()
    for _ in range(3):
        assert asked(bots.url("good"), by=by).value == NOOPS
    assert bots.connections == 1
    waiting.over()


@pytest.mark.usefixtures("kept_long")
def test_of_too_many_kept_connections_the_least_recently_used_is_closed(
    bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that were in use or closed meanwhile do not count."""
    monkeypatch.setattr("battlebot.stateless.http.connections.MOST_IDLE", 1)
    by = asker()
    paths = ["good", "good", "good", "good/2", "good/2", "good", "good"]
    for path, connections in zip(paths, [1, 1, 1, 2, 2, 3, 3], strict=True):
        asked(bots.url(path), by=by)
        assert bots.connections == connections, path
    with monkeypatch.context() as later:
        later.setattr("battlebot.stateless.http.connections.KEPT_S", 0.0)
        by.tidy()
    for path, connections in zip(["good/2", "good/2", "good/3", "good/2"], [4, 4, 5, 6], strict=True):
        asked(bots.url(path), by=by)
        assert bots.connections == connections, path


def test_what_nobody_uses_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then a server that serves one connection at a time goes on with another process."""
    by, other = asker(), asker()
    with http_bots(OneAtATime) as bots:
        asked(bots.url("good"), by=by)
        monkeypatch.setattr("battlebot.stateless.http.connections.KEPT_S", 0.0)
        by.tidy()
        assert asked(bots.url("good"), 5.0, other).value == NOOPS
        asked(bots.url("dying"), by=other)


def test_what_is_used_all_the_time_is_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a long match: a server that serves one connection at a time goes on with another process meanwhile."""
    monkeypatch.setattr("battlebot.stateless.http.connections.KEPT_S", KEPT_S)
    by, other = asker(), HttpBots(Guard(loopback=True), 65_536, 16, keeps=False)
    with http_bots(OneAtATime) as bots, ThreadPoolExecutor(1) as pool:
        asked(bots.url("good"), by=by)
        reply = pool.submit(asked, bots.url("good/2"), 10.0, other)
        while not reply.done():
            assert asked(bots.url("good"), by=by).value == NOOPS
        assert reply.result().value == NOOPS
        asked(bots.url("dying"), by=by)


def test_no_connection_is_kept_for_as_long_as_a_game_has_time() -> None:
    """With what it takes until it is closed, and several times: there may be as many processes in the way."""
    shortest_s = min(game.turn_timeout_ms for game in discover().values()) / 1000
    assert shortest_s >= 3 * (KEPT_S + TIDY_EVERY_S)


def test_who_keeps_no_connection_is_in_nobodys_way() -> None:
    """Who puts a bot to the test, say, while another process asks it for its matches."""
    testing, asking = HttpBots(Guard(loopback=True), 65_536, 16, keeps=False), asker()
    with http_bots(OneAtATime) as bots:
        for behaviour in ("good", "chunked", "clinging", "good"):
            assert asked(bots.url(behaviour), by=testing).value == NOOPS
            assert bots.headers[behaviour]["Connection"] == "close"
            assert testing.connections.idle(location_of(bots.url(behaviour))) is None
        assert asked(bots.url("good"), 5.0, asking).value == NOOPS
        asked(bots.url("dying"), by=asking)


def test_a_question_is_a_post_of_json(bots: Bots) -> None:
    """As the original sends it, with the type that it left out."""
    asked(bots.url("good?key=a%20b"))
    headers = bots.headers["good"]
    assert bots.questions["good"] == CONTENT
    assert headers["Content-Type"] == "application/json"
    assert headers["Host"] == f"127.0.0.1:{bots.server_port}"


def test_nobody_there_is_the_bots_failure() -> None:
    """A port where nobody listens."""
    reply = asked("http://127.0.0.1:9/")
    assert reply.failure is not None
    assert reply.failure.code == "bad-address"
    reply = asked("http://127.0.0.1:65535/")
    assert reply.failure is not None
    assert (reply.failure.code, reply.failure.ours) == ("unreachable", False)
