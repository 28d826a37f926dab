"""What a worker process asks stateless bots with. It needs greenlets, which workers of other queues do not have."""

from __future__ import annotations

import faulthandler
import threading
import time
from functools import cached_property
from typing import Any

import structlog
from celery import signals

from battlebot.arena.live.casual import CasualMatches
from battlebot.arena.live.conduct import Conductor
from battlebot.arena.live.leases import RENEW_EVERY_S, Leases
from battlebot.arena.live.store import MatchStore
from battlebot.errors import Unavailable
from battlebot.redisio.scripts import GroupedScripts
from battlebot.runtime.gate import Gate
from battlebot.runtime.lag import Lag
from battlebot.runtime.timers import Throttle, Timers
from battlebot.stateless.asking import TIDY_EVERY_S
from battlebot.stateless.attendance import Attendance
from battlebot.stateless.health import Health
from battlebot.stateless.kinds import make_askers
from battlebot.stateless.lookups import make_room_for_lookups
from battlebot.stateless.retests import Retests
from battlebot.stateless.stretch import Stretches
from battlebot.stateless.trial import Trial
from tasks.perprocess import once_a_process
from tasks.requests import ARCHIVE_EVERY_S
from tasks.workbench import match_bench, workbench

log = structlog.get_logger()

# as for web nodes: a worker with greenlets that hangs, in a game's code that never returns, asks nobody any more, and
# nothing else ends it
HANGS_S = 30.0
STDERR = 2  # Celery may replace sys.stderr

WRITE_EVERY_S = 1.5  # what was noted of bots' health


class Desk:
    """What a worker process asks bots with; its threads renew the leases, write the bots' health, and tidy up.

    Without MongoDB bots are asked; none is added to the queues then.
    """

    def __init__(self) -> None:
        make_room_for_lookups()
        base = match_bench()
        lag = Lag()
        lag.start()
        timers = Timers()
        timers.start()
        scripts = GroupedScripts(base.client, Gate)
        self.leases, self.health = Leases(scripts), Health(base.client)
        self._store = MatchStore(base.client, scripts, hold_s=5.0)
        ask_archive = Throttle(base.requests.archive, timers, ARCHIVE_EVERY_S)
        conductor = Conductor(base.registry, self._store, ask_archive=ask_archive, ask_bots=_asked_by_the_stretch)
        askers = make_askers(base.settings, lag.total_s)
        again, attend = base.requests.bots, base.requests.attendance
        # the other half is left to rated matches
        most_unrated = base.settings.bots_concurrency // 2
        self.stretches = Stretches(conductor, askers, self.leases, self.health, again, attend, most_unrated)
        self._askers = askers
        askers.start()
        signals.worker_shutting_down.connect(self._stop, weak=False)
        threading.Thread(target=self._renew, name="leases", daemon=True).start()
        threading.Thread(target=self._write_health, name="health", daemon=True).start()
        threading.Thread(target=self._tidy, name="tidy", daemon=True).start()

    @cached_property
    def attendance(self) -> Attendance:
        """What keeps stateless bots waiting. Raises Unavailable if MongoDB has not answered yet."""
        bench = workbench()
        return Attendance(
            registry=bench.registry,
            settings=bench.settings,
            storage=bench.storage,
            store=self._store,
            queues=bench.queues,
            heartbeats=bench.conductor.heartbeats,
            retests=Retests(bench.storage.bots, self.health, Trial(bench.registry, bench.settings, self._askers)),
            casual=CasualMatches(bench.settings, self._store, bench.storage.bots.addresses, bench.requests.bots),
            ask_pairing=bench.requests.pairing,
        )

    def _stop(self, **_: Any) -> None:
        self.stretches.stop()

    def _renew(self) -> None:
        while True:
            time.sleep(RENEW_EVERY_S)
            try:
                self.leases.renew()
            except Unavailable as error:
                log.warning("bots.leases_not_renewed", error=str(error))
            except Exception:
                log.exception("bots.failed")

    def _write_health(self) -> None:
        """Runs in its own thread: with many addresses it may take longer than a lease lasts."""
        while True:
            time.sleep(WRITE_EVERY_S)
            try:
                for address in self.health.flush():
                    log.warning("bot.paused", url=address)
            except Unavailable as error:
                log.warning("bots.health_not_written", error=str(error))
            except Exception:
                log.exception("bots.writing_failed")

    def _tidy(self) -> None:
        """Runs in its own thread, so that connections to bots are closed in time while Redis does not answer.

        If it does not run for `HANGS_S`, the process ends, and says in the log where it was.
        """
        while True:
            faulthandler.dump_traceback_later(HANGS_S, exit=True, file=STDERR)
            time.sleep(TIDY_EVERY_S)
            try:
                self._askers.tidy()
            except Exception:
                log.exception("bots.tidying_failed")


def _asked_by_the_stretch(_match_id: str) -> None:
    """Requests nothing: the stretch that has committed an answer asks on in it, or has the next board asked."""


@once_a_process
def desk() -> Desk:
    """This process's desk."""
    return Desk()
