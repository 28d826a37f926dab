"""Keeps children running: notices deaths, restarts with back-off, gives up, stops in order. Knows only processes.

Their logs are kept from growing without bound.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import structlog

from battlebot.embedded.limits import KILLED
from battlebot.embedded.process import LEAST_ROOM_MB, Child, Program
from battlebot.errors import EmbeddedError

FIRST_DELAY_S = 0.2
LONGEST_DELAY_S = 5.0
SETTLED_S = 10.0  # a child that has run longer than this resets its back-off and its count of deaths
GIVE_UP_DEATHS = 10  # in a row, each after less than SETTLED_S

_LOOK_S = 0.1

log = structlog.get_logger()


@dataclass
class _Place:
    """One child's place: the child, its early deaths in a row, and when (monotonic) the next may start.

    `told`: the unforeseen error of the latest look at it, empty if there was none.
    """

    child: Child
    started_s: float
    deaths: int = 0
    delay_s: float = FIRST_DELAY_S
    restart_s: float | None = None
    told: str = ""


class Supervisor:
    """Children by name, in order of start.

    Call `start` and `adopt` in the thread that creates it; then `watch` supervises in its own thread until `stop`.
    """

    def __init__(self) -> None:
        self.failure: EmbeddedError | None = None
        self._places: dict[str, _Place] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._watcher: threading.Thread | None = None

    def start(self, program: Program) -> None:
        """Start a program and supervise it. Raises EmbeddedError if it cannot be started."""
        self.adopt(Child(program))

    def adopt(self, child: Child) -> None:
        """Supervise a child that already runs."""
        with self._lock:
            self._places[child.program.name] = _Place(child, time.monotonic())
        log.info("part.started", part=child.program.name, pid=child.pid)

    def child(self, name: str) -> Child:
        """The current child of that name. Raises KeyError."""
        with self._lock:
            return self._places[name].child

    def waits_for_room(self) -> Child | None:
        """A child that has ended and is not started again, because its disk is full."""
        with self._lock:
            waiting = (place.child for place in self._places.values() if place.restart_s is not None)
            return next((child for child in waiting if not child.program.has_room()), None)

    def stop_one(self, name: str) -> None:
        """Stop one child gracefully and no longer supervise it. Raises KeyError."""
        with self._lock:
            self._places.pop(name).child.stop()

    def watch(self) -> None:
        """Start supervision in a thread that lives until `stop`. After a failure it only waits."""
        # On Linux its children are killed when it ends
        self._watcher = threading.Thread(target=self._watch, name="supervisor", daemon=True)
        self._watcher.start()

    def wait(self, limit_s: float) -> bool:
        """Wait up to `limit_s` seconds for supervision to end; whether it has. Raises EmbeddedError if it failed."""
        ended = self._ended.wait(limit_s)
        if self.failure is not None:
            raise self.failure
        return ended

    def stop(self) -> None:
        """Stop every child gracefully, the last started first; then the watching thread ends."""
        self._ended.set()
        with self._lock:
            for place in self._places.values():
                if place.child.program.waits_for_none:
                    place.child.ask_to_stop()
            for name, place in reversed(self._places.items()):
                place.child.stop()
                log.info("part.stopped", part=name, status=place.child.status())
            self._places.clear()
        if self._watcher is not None:
            self._watcher.join()

    def _watch(self) -> None:
        while not self._ended.wait(_LOOK_S):
            with self._lock:
                try:
                    if not self._ended.is_set():
                        self._look(time.monotonic())
                except EmbeddedError as error:
                    self.failure = error
                    self._ended.set()
        # `stop` holds the lock while it stops the children; this thread must end after them
        with self._lock:
            pass

    def _look(self, now_s: float) -> None:
        for place in self._places.values():
            try:
                self._look_at(place, now_s)
                place.told = ""
            except EmbeddedError:
                raise
            except Exception as error:
                # the other parts are looked after all the same; this is tried again ten times a second
                if place.told != repr(error):
                    place.told = repr(error)
                    log.exception("part.not_looked_after", part=place.child.program.name)

    def _look_at(self, place: _Place, now_s: float) -> None:
        if place.restart_s is None and not place.child.alive:
            self._bury(place, now_s)
        elif place.restart_s is not None and now_s >= place.restart_s and place.child.program.has_room():
            self._restart(place, now_s)
        elif place.restart_s is None and place.child.is_cut_off(now_s):
            # as by what cleans /tmp; who is connected goes on, so that hardly anybody would notice
            log.error("part.cut_off", part=place.child.program.name, socket=str(place.child.program.socket))
            place.child.ask_to_stop()
        place.child.bound_log()

    def _restart(self, place: _Place, now_s: float) -> None:
        try:
            place.child = Child(place.child.program)
        except EmbeddedError as error:
            # Out of memory or disk space for its log: treated as temporary, like a death
            self._count(place, now_s, str(error))
        else:
            place.started_s, place.restart_s = now_s, None
            log.info("part.restarted", part=place.child.program.name, pid=place.child.pid)

    def _bury(self, place: _Place, now_s: float) -> None:
        # Processes it forked may still hold its port or files
        place.child.kill()
        if now_s - place.started_s > SETTLED_S:
            place.delay_s, place.deaths = FIRST_DELAY_S, 0
        self._count(place, now_s, place.child.status())

    def _count(self, place: _Place, now_s: float, how: str) -> None:
        name = place.child.program.name
        place.deaths += 1
        if not place.child.program.has_room():
            # A restart would not help: wait until there is space
            place.deaths = 0
            log.error("part.disk_full", part=name, status=how, least_free_mb=LEAST_ROOM_MB)
        if place.deaths == GIVE_UP_DEATHS and not place.child.program.optional:
            raise EmbeddedError(
                f"{name} died {GIVE_UP_DEATHS} times, never {SETTLED_S:g} seconds old ({how}){place.child.why()}"
            )
        place.restart_s = now_s + place.delay_s
        perhaps = {"perhaps": "memory ran out"} if how == KILLED else {}
        log.warning("part.died", part=name, status=how, restart_in_s=place.delay_s, **perhaps)
        place.delay_s = min(place.delay_s * 2, LONGEST_DELAY_S)
