"""How many requests are worked on at a time: who takes all places keeps others waiting, but not for ever."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from threading import Event, Thread

import pytest
from cluster import LIMIT_S, wait_for
from webhouse import CONTESTS, House

from battlebot.api.concurrency import EXTENSION, FILES, LIVE_PAGES, ConcurrencyLimit, FairSemaphore, streamed
from battlebot.api.context import CONTEXT_KEY
from battlebot.errors import Unavailable

ADDRESS = "127.0.0.1"  # of Flask's client
EVENTS = f"{CONTESTS}/cup/events"


@pytest.mark.parametrize(
    ("held", "wanted", "is_free"),
    [
        (["a"], "a", True),
        (["a", "a"], "a", False),
        (["a", "a"], "b", True),
        (["a", "a", "b"], "b", False),
        (["a", "a", "b"], "c", False),
    ],
)
def test_each_has_so_many_places_and_all_together_too(held: list[str], wanted: str, is_free: bool) -> None:
    """Two of one, three in all; who gives one up makes room, and leaves nothing behind."""
    limit = ConcurrencyLimit(most=3, most_of_one=2, wait_s=0.01)
    with ExitStack() as stack:
        for key in held:
            stack.enter_context(limit.place(key))
        if is_free:
            stack.enter_context(limit.place(wanted))
        else:
            with pytest.raises(Unavailable):
                stack.enter_context(limit.place(wanted))
    with limit.place(wanted):
        pass
    assert len(limit) == 0


def test_those_who_come_and_go_at_once_leave_nothing_behind() -> None:
    """Whatever moment a thread is interrupted at."""
    limit, failures = ConcurrencyLimit(most=8, most_of_one=8), []

    def come_and_go() -> None:
        try:
            for _ in range(5_000):
                with limit.place("a"):
                    pass
        except KeyError as error:
            failures.append(error)

    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [Thread(target=come_and_go) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval_s)
    assert (failures, len(limit), limit._of_one) == ([], 0, {})


def test_who_waits_is_let_in_when_a_place_is_free() -> None:
    """It goes on where the other leaves."""
    limit = ConcurrencyLimit(most_of_one=1)
    came = []

    def come() -> None:
        with limit.place("a"):
            came.append("later")

    with limit.place("a"):
        later = Thread(target=come)
        later.start()
        came.append("first")
    later.join()
    assert came == ["first", "later"]


def test_who_comes_again_waits_like_all_others() -> None:
    """Who is sent a file, piece by piece, keeps nobody waiting until its end: who waits has the next place."""
    waiting, order = Event(), list[str]()
    # asked by who waits
    limit = ConcurrencyLimit(most_of_one=1, may_pass=lambda: bool(waiting.set()))

    def come() -> None:
        with limit.place("a"):
            order.append("page")

    page = Thread(target=come)
    with limit.place("a"):
        page.start()
        waiting.wait()
    for _ in range(3):
        with limit.place("a"):
            order.append("piece")
    page.join()
    assert order == ["page", *["piece"] * 3]
    assert len(limit) == 0


def test_who_waits_is_let_in_in_turn_and_takes_nobody_elses_place() -> None:
    """The first first; those who wait for one of their address's places have none of all."""
    waiting, order = Event(), list[str]()
    # asked by who waits
    limit = ConcurrencyLimit(most=2, most_of_one=1, may_pass=lambda: bool(waiting.set()))

    def come(name: str) -> None:
        with limit.place("a"):
            order.append(name)

    threads = [Thread(target=come, args=(name,)) for name in ("first", "second")]
    with limit.place("a"):
        for thread in threads:
            waiting.clear()
            thread.start()
            waiting.wait()
        with limit.place("b"):
            assert order == []
    for thread in threads:
        thread.join()
    assert order == ["first", "second"]


def test_who_passes_without_a_place_leaves_none() -> None:
    """There are as many afterwards as before."""
    passing = [True]
    limit = ConcurrencyLimit(most_of_one=1, wait_s=0.01, may_pass=lambda: passing[0])
    with limit.place("a"):
        with limit.place("a"):
            passing[0] = False
        with pytest.raises(Unavailable), limit.place("a"):
            pass


def test_who_has_waited_for_one_place_waits_no_longer_for_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy gives up at some time: the wait for an address's place counts for that among all."""
    deadlines = []

    class Noting(FairSemaphore):
        def acquire(self, until_s: float, may_pass: Callable[[], bool]) -> bool:
            deadlines.append(until_s)
            return super().acquire(until_s, may_pass)

    monkeypatch.setattr("battlebot.api.concurrency.FairSemaphore", Noting)
    with ConcurrencyLimit().place("a"):
        assert len(deadlines) == 2
        assert deadlines[0] == deadlines[1]


def test_who_is_ended_while_it_waits_takes_no_place() -> None:
    """Its connection may have been cut off: the place goes to the next one."""

    def ended() -> bool:
        raise KeyboardInterrupt

    semaphore, now_s = FairSemaphore(1), time.monotonic()
    assert semaphore.acquire(now_s, lambda: False)
    with pytest.raises(KeyboardInterrupt):
        semaphore.acquire(now_s + 1.0, ended)
    semaphore.release()
    assert semaphore.acquire(now_s, lambda: False)


def test_who_may_never_pass_does_not_look_whether_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands may wait for who reads files slowly: four looks a second of each would take all of a node."""
    waits, wait = list[float | None](), Event.wait

    def noted(event: Event, timeout: float | None = None) -> bool:
        waits.append(timeout)
        return wait(event, timeout)

    monkeypatch.setattr(Event, "wait", noted)
    monkeypatch.setattr("battlebot.api.concurrency.LOOK_S", 0.01)
    limit = ConcurrencyLimit(most=1, wait_s=0.5)
    with limit.place("a"), pytest.raises(Unavailable), limit.place("b"):
        pass
    assert len(waits) < 5


@pytest.mark.parametrize("passes", [False, True])
def test_a_place_that_is_left_is_had_once(passes: bool) -> None:
    """By who waits; by the next one, if who waits may pass at that moment and needs none."""
    semaphore, now_s = FairSemaphore(1), time.monotonic()
    assert semaphore.acquire(now_s, lambda: False)

    def left() -> bool:
        semaphore.release()
        return passes

    assert semaphore.acquire(now_s + 60.0, left) is not passes
    assert semaphore.acquire(now_s, lambda: False) is passes
    assert not semaphore.acquire(now_s, lambda: False)


def test_while_a_store_is_away_nobody_waits_for_those_who_wait_for_it(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have all places, for seconds and in vain; others may need another store, or none."""
    limit, away = home.app.extensions[EXTENSION], dict[str, float]()
    monkeypatch.setitem(home.app.extensions, CONTEXT_KEY, replace(home.context, away=lambda: away))
    with ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(limit.place(ADDRESS))
        answers = list[int]()
        waits = Thread(target=lambda: answers.append(home.client.get("/bots/numberwang").status_code))
        waits.start()
        while len(limit) < 5:
            waits.join(0.001)
        assert answers == []
        away["mongodb"] = 1.0
        waits.join()
        assert answers == [200]
        assert home.client.get("/bots/numberwang").status_code == 200
    assert len(limit) == 0


def test_requests_that_read_wait_for_a_place(home: House) -> None:
    """Also the pieces of a file; not those of an address that has one, nor probes, nor what changes something."""
    home.contest("cup", bots=("a", "b"))
    home.app.extensions[EXTENSION] = limit = ConcurrencyLimit(most_of_one=1, wait_s=0.01)
    pieces = home.client.get(f"{CONTESTS}/cup/export.csv", buffered=False)
    assert pieces.status_code == 200
    with limit.place(ADDRESS):
        for path in ("/bots/numberwang", "/web/numberwang", "/"):
            assert home.client.get(path).status_code == home.client.head(path).status_code == 503
        assert home.client.get("/bots/numberwang", environ_base={"REMOTE_ADDR": "127.0.0.2"}).status_code == 200
        assert home.client.get("/healthz").status_code == 200
        assert home.client.post("/bots/numberwang", json={"bot_id": "c"}).status_code == 201
        with pytest.raises(Unavailable):
            b"".join(pieces.iter_encoded())
    assert home.client.get("/bots/numberwang").status_code == 200
    assert home.client.get(f"{CONTESTS}/cup/export.csv").data.startswith(b"match,game,contest")
    assert len(limit) == 0


def test_an_address_is_sent_so_many_files_at_a_time(home: House) -> None:
    """Each keeps something in memory for as long as it is read. Who waits for that is in no other request's way."""
    home.contest("cup", bots=("a", "b"))
    limit, taken = home.app.extensions[EXTENSION], list[int]()
    # asked by who waits
    home.app.extensions[FILES] = ConcurrencyLimit(
        most_of_one=1, wait_s=0.01, may_pass=lambda: bool(taken.append(len(limit)))
    )
    path = f"{CONTESTS}/cup/export.csv"
    first = home.client.get(path, buffered=False)
    assert home.client.get(path).status_code == 503
    assert set(taken) == {0}
    head = home.client.head(path)
    assert (head.status_code, head.content_length) == (200, None)
    assert home.client.get(path, environ_base={"REMOTE_ADDR": "127.0.0.2"}).status_code == 200
    first.close()
    assert home.client.get(path).status_code == 200


def test_a_live_page_holds_no_place_while_it_waits(home: House) -> None:
    """It has one only while it looks, of those that all live pages share."""
    home.contest("cup", bots=("a", "b"))
    home.app.extensions[EXTENSION] = limit = ConcurrencyLimit(most_of_one=1, wait_s=0.01)
    with limit.place(LIVE_PAGES):
        assert home.client.get(EVENTS).status_code == 503
    watched = home.client.get(EVENTS, buffered=False)
    assert next(iter(watched.iter_encoded())).startswith(b"retry:")
    assert len(limit) == 0
    watched.close()


@pytest.mark.parametrize(("other", "is_cut"), [("127.0.0.2", True), (ADDRESS, False)])
def test_who_takes_a_file_slowly_makes_room_for_other_addresses(
    home: House, monkeypatch: pytest.MonkeyPatch, other: str, is_cut: bool
) -> None:
    """Not for its own further requests, and not as long as nobody waits."""
    monkeypatch.setattr("battlebot.api.concurrency.UNHURRIED_S", 0.0)
    monkeypatch.setattr("battlebot.api.concurrency.SLOWEST", 10**12)
    home.app.extensions[FILES] = files = ConcurrencyLimit(most=1, most_of_one=1, wait_s=LIMIT_S)
    with home.app.test_request_context("/", environ_base={"REMOTE_ADDR": ADDRESS}), ExitStack() as stack:
        answer = streamed(iter([b"a", b"b", b"c", b"d"]), "text/plain")
        pieces = answer.iter_encoded()
        assert [next(pieces), next(pieces)] == [b"a", b"b"]
        waiting = Thread(target=stack.enter_context, args=(files.place(other),))
        waiting.start()
        wait_for(lambda: len(files) == 2 and files.is_full is is_cut, "somebody who waits")
        with pytest.raises(TimeoutError) if is_cut else nullcontext():
            assert list(pieces) == [b"c", b"d"]
        answer.close()
        waiting.join(LIMIT_S)
        assert len(files) == 1
    assert len(files) == 0
