"""The parts that a worker process's tasks work with, wired at the first task.

The match bench needs Redis alone, so that live matches are looked after while MongoDB is away; the workbench has all.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import redis
from celery import current_app

from battlebot.arena.live.conduct import Conductor
from battlebot.arena.live.cutoff import CutOff
from battlebot.arena.live.finished import Finished
from battlebot.arena.live.queue import Queues
from battlebot.arena.live.store import MatchStore
from battlebot.arena.live.sweep import Sweeper
from battlebot.config import Settings
from battlebot.contests.service.absences import Absences
from battlebot.contests.service.chances import Chances
from battlebot.contests.service.organiser import Organiser
from battlebot.contests.service.pairer import Pairer
from battlebot.errors import BadGame, Unavailable
from battlebot.matchmaking.missing import Missing
from battlebot.ratings.service import Rater
from battlebot.redisio.bus import Bus
from battlebot.redisio.connection import connect, time_s
from battlebot.redisio.mutex import Locks, Mutex
from battlebot.redisio.probes import note_broken_game
from battlebot.redisio.rests import Rests
from battlebot.redisio.throttle import SharedThrottle
from battlebot.rules.registry import Registry, discover
from battlebot.runtime import sharedtime
from battlebot.runtime.answering import Answering
from battlebot.stateless.health import Health
from battlebot.storage import Storage
from tasks.perprocess import once_a_process
from tasks.requests import Requests, sending

# Before each task that needs MongoDB a worker makes sure that it answers. The sweep of matches needs no MongoDB, but a
# process: a query would hold up this one for much longer, and soon every process would be at one.
PING_S = 2.0  # how long MongoDB may take to answer before a task is put off
PINGED_S = 1.0  # how long it is not asked again once it has answered

# Once in so many sweeps a game's ratings are checked by all its matches, which takes a second for each million or two
CHECK_SWEEPS = 3600


@dataclass(frozen=True)
class MatchBench:
    """The parts of a worker process that live matches need: they work without MongoDB."""

    settings: Settings
    client: redis.Redis
    locks: Locks
    store: MatchStore
    finished: Finished
    queues: Queues
    conductor: Conductor
    sweeper: Sweeper
    registry: Registry
    requests: Requests

    def mutex(self, work: str) -> Mutex:
        """The guard of work that only one process at a time does."""
        return Mutex(self.locks, work)


@dataclass(frozen=True)
class Workbench(MatchBench):
    """All parts of a worker process."""

    storage: Storage
    mongodb: Answering
    pairer: Pairer
    organiser: Organiser
    absences: Absences
    rater: Rater
    bus: Bus
    rests: Rests
    rating_throttle: SharedThrottle
    rating_checks: SharedThrottle


def workbench() -> Workbench:
    """This process's workbench. Raises Unavailable if MongoDB does not answer."""
    bench = _workbench()
    bench.mongodb.require(PINGED_S)
    return bench


@once_a_process
def match_bench() -> MatchBench:
    """This process's match bench. Raises Unavailable if Redis has not told the time yet."""
    celery = current_app._get_current_object()
    settings: Settings = celery.battlebot_settings
    client = connect(settings.redis_url)
    sharedtime.follow(partial(time_s, client))
    sharedtime.check()
    registry = _games(client)
    store, queues = MatchStore(client, hold_s=5.0), Queues(client)
    requests = Requests(sending(celery))
    conductor = Conductor(registry, store, ask_archive=requests.archive, ask_bots=requests.bots)
    return MatchBench(
        settings=settings,
        client=client,
        locks=Locks(client),
        store=store,
        finished=Finished(client),
        queues=queues,
        conductor=conductor,
        sweeper=Sweeper(conductor, queues, settings.node_timeout_s, settings.sweep_interval_s),
        registry=registry,
        requests=requests,
    )


def _games(client: redis.Redis) -> Registry:
    """Finds the games. Raises BadGame, noted for `/readyz`: the nodes may have been started before one was broken."""
    try:
        return discover()
    except BadGame as error:
        with suppress(Unavailable):
            note_broken_game(client, str(error))
        raise


@once_a_process
def _workbench() -> Workbench:
    base = match_bench()
    settings, client, store, queues, requests = base.settings, base.client, base.store, base.queues, base.requests
    storage, health = Storage(settings), Health(client)
    mongodb = Answering(partial(storage.ping, PING_S))
    mongodb.require(PINGED_S)
    # the cap of meetings is an index: nothing is paired before it is there
    storage.ensure_indexes()

    def paused(bots: Collection[str]) -> list[str]:
        addresses = storage.bots.asked(list(bots))
        until = health.paused_until_s(sorted(set(addresses.values())))
        return [bot for bot, address in addresses.items() if until[address] is not None]

    pairer = Pairer(base.registry, settings, storage, store, queues, Missing(client), requests.bots, paused)
    bus = Bus(client)
    organiser = Organiser(storage, base.conductor, bus, ask_pairing=requests.pairing, ask_rating=requests.ratings_anew)
    chances = Chances(
        heartbeats=base.conductor.heartbeats,
        cut_off=CutOff(client, base.conductor.heartbeats),
        addresses=store.addresses,
        bots=storage.bots,
        grace_s=settings.node_grace_s,
        bot_matches=settings.bot_matches,
    )
    return Workbench(
        **vars(base),
        storage=storage,
        mongodb=mongodb,
        pairer=pairer,
        organiser=organiser,
        absences=Absences(pairer, organiser, chances, most_s=max(5.0, 3 * settings.sweep_interval_s)),
        rater=Rater(storage),
        bus=bus,
        rests=Rests(client),
        rating_throttle=SharedThrottle(client, "ratings"),
        rating_checks=SharedThrottle(client, "rating checks", settings.sweep_interval_s * CHECK_SWEEPS),
    )
