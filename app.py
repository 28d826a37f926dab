"""Wires the parts of a node together, for the web and for the TCP door. Only wsgi.py and the CLI import it.

What a worker's tasks work with is wired in `tasks/workbench.py`, and in `tasks/desk.py` for asking stateless bots.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import redis
import structlog
from celery import Celery
from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

from battlebot.api import init_api
from battlebot.api.bodies import read_body
from battlebot.api.concurrency import while_tested
from battlebot.api.context import CONTEXT_KEY, Context
from battlebot.api.errors import handle_errors
from battlebot.api.headers import add_headers
from battlebot.api.origins import refuse_other_origins
from battlebot.arena.live.casual import CasualMatches
from battlebot.arena.live.conduct import Conductor
from battlebot.arena.live.inspection import ArenaInspection
from battlebot.arena.live.queue import Queues
from battlebot.arena.live.store import MatchStore
from battlebot.arena.live.viewing import LiveMatches
from battlebot.arena.names.copies import Copies
from battlebot.arena.names.directory import Directory
from battlebot.arena.names.presence import Presence
from battlebot.arena.names.renewals import Renewals, TurnOut
from battlebot.arena.node.opening import Opening
from battlebot.arena.node.running import Node
from battlebot.arena.node.service import Arena
from battlebot.arena.node.turns import Turns
from battlebot.arena.places import TCP, WEB, node_name
from battlebot.config import Settings
from battlebot.contests.service.entrance import Entrance
from battlebot.contests.service.lookout import Lookout
from battlebot.contests.service.organiser import Organiser
from battlebot.embedded.succession import lineage
from battlebot.errors import SettingError, Unavailable
from battlebot.matchmaking.lobby import Lobby
from battlebot.matchmaking.missing import Missing
from battlebot.redisio.bus import Bus
from battlebot.redisio.connection import connect, time_s
from battlebot.redisio.probes import Probes
from battlebot.redisio.ratelimit import RateLimit
from battlebot.redisio.scripts import GroupedScripts
from battlebot.redisio.tasklists import TaskLists
from battlebot.redisio.transactions import TransactionConnection
from battlebot.rules.registry import discover
from battlebot.runtime import sharedtime
from battlebot.runtime.answering import Answering
from battlebot.runtime.gate import Gate, greenlet_lock
from battlebot.runtime.lag import Lag
from battlebot.runtime.readiness import Readiness
from battlebot.runtime.timers import Throttle, Timers
from battlebot.stateless.battles import Battles
from battlebot.stateless.health import Health
from battlebot.stateless.kinds import make_askers
from battlebot.stateless.lookups import make_room_for_lookups
from battlebot.stateless.registering import StatelessBots
from battlebot.stateless.trial import Trial
from battlebot.storage import Storage
from battlebot.storage.vault import Vault
from battlebot.transports.pump import Pump
from battlebot.transports.socketio import SocketIoDoor, init_socketio
from battlebot.transports.tcp import TcpDoor
from battlebot.transports.tcp_guests import Guests
from battlebot.transports.websocket import init_websocket
from battlebot.web import init_web
from tasks.celeryapp import make_celery
from tasks.requests import ARCHIVE_EVERY_S, Requests, sending_in_background

log = structlog.get_logger()

Ticks = Sequence[Callable[[], None]]
Letters = Mapping[str, Callable[..., None]]
# whether MongoDB answers, so that bots can be looked up and let in
PING_S = 1.0
PING_EVERY_S = 0.5  # heartbeats, one a second, tell the latest answer


class House:
    """The parts of a node that its doors share, each made of those before it."""

    def __init__(self, settings: Settings, door: str = WEB) -> None:
        """The parts of a node with this door. `settings` must name a Redis, a MongoDB and a secret key.

        Raises SettingError, BadGame.
        """
        if not (settings.redis_url and settings.mongodb_uri):
            raise SettingError("A node needs REDIS_URL and MONGODB_URI; `battlebot serve` starts its own.")
        self.settings = settings
        self.registry = discover()
        self.storage = Storage(settings, answer_within_s=4.0)
        self.mongodb = Answering(partial(self.storage.ping, PING_S))
        self.client = connect(settings.redis_url)
        self.scripts = GroupedScripts(self.client, Gate)
        self.bus = Bus(self.client)
        self.store = MatchStore(self.client, self.scripts)
        self.queues = Queues(self.client, self.scripts)
        self.celery = make_celery(settings)
        self.requests = Requests(sending_in_background(self.celery))
        self.timers = Timers()
        self.lag = Lag()
        # without a node: this node's own players are told by its mailbox, like all others
        self.conductor = Conductor(
            self.registry, self.store, ask_archive=self.requests.archive, ask_bots=self.requests.bots
        )
        self.directory = self._make_directory()
        succession = lineage.own or lineage.next()
        # seats and tickets carry a node's name, and tell its door by it
        self.arena = self._make_arena(node_name(succession.name, door))
        self.ended = [node_name(name, door) for name in succession.ended]
        self.lobby = self._make_lobby()

    def _make_directory(self) -> Directory:
        # with a connection of its own: a Redis that hangs must not delay registrations for long
        presence = Presence(connect(self.settings.redis_url, timeout_s=1.0))
        used_names = partial(presence.used_names, self.settings.node_timeout_s)
        return Directory(self.storage, Vault(self.settings.secret_key), used_names, Copies(self.client))

    def _make_arena(self, node: str) -> Arena:
        opening = Opening(self.mongodb)
        ask_archive = Throttle(self.requests.archive, self.timers, ARCHIVE_EVERY_S)
        conductor = Conductor(
            self.registry,
            self.store,
            node,
            ask_archive=ask_archive,
            ask_bots=self.requests.bots,
            open_ago_s=opening.ago_s,
        )
        turns = partial(Turns, new_connection=lambda: TransactionConnection(self.client))
        return Arena(conductor, self.timers, opening, turns, greenlet_lock)

    def _make_lobby(self) -> Lobby:
        settings, requests = self.settings, self.requests
        rate_limit = RateLimit(self.client, "contests", settings.contests_per_minute, sharedtime.now_s)
        return Lobby(
            registry=self.registry,
            settings=settings,
            store=self.store,
            queues=self.queues,
            contests=Entrance(self.storage, self.bus, settings, rate_limit.take),
            casual=CasualMatches(settings, self.store, self.storage.bots.addresses, requests.bots),
            ask_pairing=requests.pairing,
            arena=self.arena,
        )

    def start(self, turn_out: TurnOut, ticks: Ticks = (), letters: Letters | None = None) -> None:
        """Starts the node's threads. `turn_out` is its door's, as in `Renewals`; `ticks`, `letters`: as in `Node`."""
        self.lag.start()
        sharedtime.follow(partial(time_s, self.client))
        try:
            self.storage.ensure_indexes()
        except Unavailable as error:
            log.warning("indexes.put_off", error=str(error))
        self.mongodb.start(PING_EVERY_S)
        lobby = self.lobby
        letters = {"freed": lobby.on_freed, "over": lobby.on_over, "reopened": lobby.on_reopened, **(letters or {})}
        renewals = Renewals(self.storage.bots, self.directory, Copies(self.client), turn_out)
        Node(self.client, self.arena, self.timers, [lobby.tick, renewals.tick, *ticks], letters, self.ended).start()


def create_app(settings: Settings) -> Flask:
    """The Flask application of one web node, with its background threads started. Raises SettingError, BadGame."""
    make_room_for_lookups()
    app = Flask("battlebot", static_folder=None)
    house = House(settings)
    readiness = _readiness(house.client, house.storage, house.celery)
    pump = Pump(settings, house.directory, house.lobby, house.arena, house.lag)
    viewers = _viewers(house)

    def drain() -> None:
        pump.drain()
        viewers.drain()

    app.extensions["battlebot.drain"] = drain
    app.before_request(lambda: read_body(settings))
    init_api(app, _context(house, readiness))
    init_web(app, app.extensions[CONTEXT_KEY])
    init_websocket(app, _doorway(settings), settings, pump)
    init_socketio(app, viewers)
    if settings.trusted_proxies:
        hops = settings.trusted_proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops)  # type: ignore[method-assign]
    readiness.start()
    house.start(pump.turn_out)
    return app


def _doorway(settings: Settings) -> Flask:
    """The application for bots' connections: answers errors and refuses origins like the main one; has no limits."""
    doorway = Flask("battlebot.door", static_folder=None)
    doorway.before_request(lambda: read_body(settings))
    handle_errors(doorway)
    add_headers(doorway)
    refuse_other_origins(doorway, settings, for_bots=True)
    return doorway


def _viewers(house: House) -> SocketIoDoor:
    """The socket.io door, for viewers who begin games of HTTP bots and watch them."""
    settings = house.settings
    askers, archive = make_askers(settings, keeps=False), house.storage.games
    battles = Battles(settings, house.conductor, house.bus, askers, archive)
    return SocketIoDoor(
        settings, battles, RateLimit(house.client, "games", settings.games_per_minute, sharedtime.now_s).take
    )


def create_tcp_door(settings: Settings) -> TcpDoor:
    """The TCP door of a separate node, with its background threads started. The caller opens the door by `serve`.

    Raises SettingError, BadGame.
    """
    house = House(settings, TCP)
    guests = Guests(Presence(house.client, house.scripts), house.storage.players.were_online)
    door = TcpDoor(settings, house.directory, guests, house.lobby, house.arena, house.lag)
    house.start(door.turn_out, [door.tick], {"expel": guests.expel})
    return door


def _context(house: House, readiness: Readiness) -> Context:
    requests = house.requests
    organiser = Organiser(
        house.storage, house.conductor, house.bus, ask_pairing=requests.pairing, ask_rating=requests.ratings_anew
    )
    return Context(
        settings=house.settings,
        registry=house.registry,
        storage=house.storage,
        directory=house.directory,
        stateless=_stateless_bots(house),
        live=LiveMatches(house.registry, house.store),
        presence=Presence(house.client),
        bus=house.bus,
        organiser=organiser,
        lookout=Lookout(
            house.storage,
            house.store,
            house.queues,
            Missing(house.client),
            bot_matches=house.settings.bot_matches,
            registry=house.registry,
        ),
        health=readiness,
        away=readiness.away,
    )


def _stateless_bots(house: House) -> StatelessBots:
    trial = Trial(house.registry, house.settings, make_askers(house.settings, house.lag.total_s, keeps=False))
    health = Health(house.client)
    return StatelessBots(house.storage, house.directory, trial, health, house.queues, while_tested)


def _readiness(client: redis.Redis, storage: Storage, celery: Celery) -> Readiness:
    probes, arena = Probes(client), ArenaInspection(client)

    def worker() -> None:
        # for a ping Celery asks Redis some sixty times: from afar, that takes longer than anybody waits here
        if arena.swept():
            return
        # those that ask stateless bots do nothing else; `worker_command` names them
        others = {"pattern": rf"(?!{TaskLists.BOTS}\d*-\d+@)", "matcher": "pcre"}
        if not celery.control.broadcast("ping", reply=True, limit=1, timeout=2.0, **others):
            raise Unavailable("No worker answers.")

    return Readiness(
        {
            "redis": probes.redis,
            "writes": probes.writes,
            "clock": probes.clock,
            "mongodb": storage.ping,
            "disk": storage.room.check,
            "worker": worker,
            "sweep": arena.check_sweep,
            "tasks": probes.tasks,
            "games": probes.games,
        }
    )


def answering_workers(settings: Settings) -> list[str]:
    """The names of the Celery workers that answer a ping within a second; if none does, of the first within ten.

    Raises Celery's error without a broker.
    """
    control = make_celery(settings).control
    # over a slow line to Redis it takes seconds
    answers = control.broadcast("ping", reply=True, timeout=1.0) or control.broadcast(
        "ping", reply=True, limit=1, timeout=10.0
    )
    return sorted(name for answer in answers or () for name in answer)
