"""How many requests a node works on at a time, in all and of one address; others wait. The bots' turns do not.

Without this, two hundred requests for a large page would hold up each turn until they all have had their part of the
processor, and take all connections to MongoDB: bots could not log in, and the node would seem to be shut.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from itertools import chain
from typing import TypeVar

from flask import Flask, Response, current_app, g, request

from battlebot.api.context import CONTEXT_KEY
from battlebot.api.sender import PROBES, sender
from battlebot.errors import Unavailable
from battlebot.runtime.counting import Tally

MOST = 16
MOST_OF_AN_ADDRESS = 4
WAIT_S = 10.0
# proxies wait for 60 s. A whole class behind one address may fetch its contest's matches when it ends
FILES_WAIT_S = 50.0
SLOWEST = 16_384  # bytes a second at which a file is to be taken while other addresses wait for its place
UNHURRIED_S = 10.0  # spent on sending; before that nobody is too slow
# the command `contest` waits for 30 s, of which the change may take ten: what it gave up would be made all the same
CHANGES_WAIT_S = 15.0
LOOK_S = 0.25  # between two looks of who waits
STORES = frozenset({"redis", "mongodb"})
LIVE_PAGES = "\0live pages"  # these look together: no address is called so
EXTENSION = "battlebot.concurrency"
FILES = "battlebot.files"
CHANGES = "battlebot.changes"
TESTS = "battlebot.tests"

Made = TypeVar("Made")


class FairSemaphore:
    """So many places, given in the order in which they are asked for.

    An ordinary semaphore gives one that was just left back to who left it, if that one asks before those who wait have
    noticed: who is sent a file in many pieces would keep all others waiting.
    """

    def __init__(self, count: int) -> None:
        self._free = count
        self._guard = threading.Lock()
        self._waiting = deque[threading.Event]()

    def acquire(self, until_s: float, may_pass: Callable[[], bool] | None) -> bool:
        """Waits for a place, until `until_s` of the monotonic clock or until `may_pass()`; returns whether it has one.

        If so, it is to be given up by `release`. Only who may pass looks now and then: of thousands that wait for who
        reads files slowly, the looks would take all of the node's time.
        """
        with self._guard:
            if self._free:
                self._free -= 1
                return True
            turn = threading.Event()
            self._waiting.append(turn)
        has_one = False
        try:
            while not has_one and not (may_pass and may_pass()) and (left_s := until_s - time.monotonic()) > 0:
                has_one = turn.wait(min(left_s, LOOK_S) if may_pass else left_s)
        finally:
            # also if this request is ended while it waits: nobody else would leave its place
            with self._guard:
                given = turn.is_set()
                if not given:
                    self._waiting.remove(turn)
            if given and not has_one:
                self.release()
        return has_one

    @property
    def is_waited_for(self) -> bool:
        """Whether anybody waits for a place."""
        return bool(self._waiting)

    def release(self) -> None:
        """Gives the place to who has waited longest."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1


class ConcurrencyLimit:
    """Places for requests: `most` in all, `most_of_one` for each key. Who `may_pass` needs none."""

    def __init__(
        self,
        most: int = MOST,
        most_of_one: int = MOST_OF_AN_ADDRESS,
        wait_s: float = WAIT_S,
        may_pass: Callable[[], bool] | None = None,
    ) -> None:
        self._all = FairSemaphore(most)
        self._most_of_one = most_of_one
        self._wait_s = wait_s
        self._may_pass = may_pass
        self._of_one: dict[str, FairSemaphore] = {}
        self._there = Tally()
        self._guard = threading.Lock()

    @contextmanager
    def place(self, key: str) -> Iterator[None]:
        """Holds a place within the `with` block, for which it waits. Raises Unavailable if none is free in time."""
        until_s = time.monotonic() + self._wait_s
        with self._guard:
            semaphore = self._of_one.setdefault(key, FairSemaphore(self._most_of_one))
            self._there[key] += 1
        try:
            with self._within(semaphore, until_s), self._within(self._all, until_s):
                yield
        finally:
            with self._guard:
                self._there.take_off(key)
                if key not in self._there:
                    del self._of_one[key]

    @property
    def is_full(self) -> bool:
        """Whether somebody who may have another place of the key waits for one of those in all."""
        return self._all.is_waited_for

    def __len__(self) -> int:
        """How many have a place, or wait for one."""
        return self._there.total()

    @contextmanager
    def _within(self, semaphore: FairSemaphore, until_s: float) -> Iterator[None]:
        has_one = semaphore.acquire(until_s, self._may_pass)
        if not has_one and not (self._may_pass and self._may_pass()):
            raise Unavailable("The server has too much to do; try again later.")
        try:
            yield
        finally:
            if has_one:
                semaphore.release()


def limit_concurrency(app: Flask) -> None:
    """Has each request that only reads wait for a place, until its view has returned.

    What is made later, while the answer is sent, needs `streamed`, or `of_live_pages`. Requests that change
    something need none: they are few, and may wait for an HTTP bot, for which there is `while_tested`.
    """

    def is_a_store_away() -> bool:
        # requests that wait for it, for seconds and in vain, have the places: those that do not need it shall go on
        return not STORES.isdisjoint(app.extensions[CONTEXT_KEY].away())

    app.extensions[EXTENSION] = ConcurrencyLimit(may_pass=is_a_store_away)
    app.extensions[FILES] = ConcurrencyLimit(wait_s=FILES_WAIT_S)
    app.extensions[TESTS] = ConcurrencyLimit()
    app.extensions[CHANGES] = ConcurrencyLimit(most_of_one=1, wait_s=CHANGES_WAIT_S, may_pass=is_a_store_away)

    def enter() -> None:
        # what belongs to no blueprint is not here, or waits for events: the viewers' polls
        if request.method in ("GET", "HEAD") and request.blueprint and request.path not in PROBES:
            _take_place(app.extensions[EXTENSION], sender())

    app.before_request(enter)
    app.teardown_request(lambda _: give_up_place())


def _take_place(limit: ConcurrencyLimit, key: str) -> None:
    """Has the request hold a place until it is over, beside any that it has."""
    g.setdefault("place", ExitStack()).enter_context(limit.place(key))


def give_up_place() -> None:
    """Gives up what places the request has."""
    if "place" in g:
        g.pop("place").close()


def while_tested() -> AbstractContextManager[None]:
    """Holds a place for a request that has a bot tested: who has slow bots tested time and again needs few of them.

    Raises Unavailable.
    """
    limit: ConcurrencyLimit = current_app.extensions[TESTS]
    return limit.place(sender())


def change_in_turn(contest: str) -> None:
    """Has the request wait until those before it have changed this contest: all at once, each makes others begin anew.

    Raises Unavailable.
    """
    _take_place(current_app.extensions[CHANGES], contest)


def streamed(pieces: Iterator[bytes], mimetype: str) -> Response:
    """The answer that sends `pieces`, each made at a place; while it is sent, it has one of those for files.

    Who reads slowly keeps in memory what the next piece is made from, and is cut off by TimeoutError if it is too slow
    for those who wait. Raises Unavailable.
    """
    if request.method == "HEAD":
        # no list: of that, the answer would give the length
        return Response(iter(()), mimetype=mimetype)
    give_up_place()
    files: ConcurrencyLimit = current_app.extensions[FILES]
    with ExitStack() as stack:
        stack.enter_context(files.place(sender()))
        made = _at_a_pace(_piece_by_piece(pieces), files)
        # before anything is sent: a store that does not answer now is still a 503, and no broken file
        first = next(made, b"")
        place = stack.pop_all()
    response = Response(chain((first,), made), mimetype=mimetype)
    response.call_on_close(made.close)
    response.call_on_close(place.close)
    return response


def _piece_by_piece(pieces: Iterator[bytes]) -> Generator[bytes]:
    limit, key = current_app.extensions[EXTENSION], sender()

    def made() -> Generator[bytes]:
        while True:
            with limit.place(key):
                piece = next(pieces, None)
            if piece is None:
                return
            yield piece

    return made()


def _at_a_pace(pieces: Generator[bytes], files: ConcurrencyLimit) -> Generator[bytes]:
    """Yields the pieces. Raises TimeoutError if they are taken too slowly while others wait for a place.

    A few who read slowly, but fast enough for each piece, could keep all places for days.
    """
    taken, taking_s = 0, 0.0
    with closing(pieces):
        for piece in pieces:
            began_s = time.monotonic()
            yield piece
            taken, taking_s = taken + len(piece), taking_s + time.monotonic() - began_s
            if taking_s > UNHURRIED_S and taken < taking_s * SLOWEST and files.is_full:
                raise TimeoutError("A file was not taken fast enough for those who wait.")


def of_live_pages(look: Callable[[], Made]) -> Callable[[], Made]:
    """`look` at one of the places that all live pages share."""
    limit = current_app.extensions[EXTENSION]

    def placed() -> Made:
        with limit.place(LIVE_PAGES):
            return look()

    return placed
