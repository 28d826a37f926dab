"""create_app(settings): the one file that wires everything together. Only wsgi.py and the CLI import it."""

from __future__ import annotations

import time
from collections.abc import Callable

import gevent
import redis
import structlog
from celery import Celery
from flask import Flask, request
from gunicorn.http.errors import ParseException
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge, RequestTimeout
from werkzeug.middleware.proxy_fix import ProxyFix

from battlebot.api import init_api
from battlebot.api.context import Context
from battlebot.arena.bus import Bus
from battlebot.arena.conduct import Conductor
from battlebot.arena.connection import connect
from battlebot.arena.directory import Directory
from battlebot.arena.health import Health
from battlebot.arena.lag import Lag
from battlebot.arena.live import LiveMatches
from battlebot.arena.node import Node, new_node_name
from battlebot.arena.probes import Probes
from battlebot.arena.scripts import GroupedScripts
from battlebot.arena.service import Arena
from battlebot.arena.store import MatchStore
from battlebot.arena.timers import Timers, in_background
from battlebot.config import Settings
from battlebot.contests.service.entrance import Entrance
from battlebot.contests.service.lookout import Lookout
from battlebot.contests.service.organiser import Organiser
from battlebot.errors import SettingError, Unavailable
from battlebot.matchmaking.lobby import Lobby
from battlebot.matchmaking.queue import Queues
from battlebot.rules.registry import discover
from battlebot.storage import Storage
from battlebot.storage.vault import Vault
from battlebot.transports.pump import Pump
from battlebot.transports.websocket import init_websocket
from battlebot.web import init_web
from tasks.celeryapp import make_celery

log = structlog.get_logger()


def create_app(settings: Settings) -> Flask:
    """The Flask application of one web node, its background threads running.

    `settings` must name a Redis, a MongoDB and a secret key. Raises SettingError, BadGame.
    """
    if not (settings.redis_url and settings.mongodb_uri):
        raise SettingError("A web node needs REDIS_URL and MONGODB_URI; `battlebot serve` starts its own.")
    app = Flask("battlebot", static_folder=None)
    if settings.trusted_proxies:
        hops = settings.trusted_proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops)  # type: ignore[method-assign]
    registry = discover()
    storage = Storage(settings, answer_within_s=4.0)
    client = connect(settings.redis_url)
    celery = make_celery(settings)
    bus = Bus(client)
    scripts = GroupedScripts(client)
    store, queues = MatchStore(client, scripts), Queues(client, scripts)
    enqueue = _enqueuer(celery)
    directory = Directory(storage, Vault(settings.secret_key))
    conductor = Conductor(registry, store, new_node_name(), lambda: enqueue("tasks.matches.archive"))
    lobby = Lobby(
        registry=registry,
        settings=settings,
        store=store,
        queues=queues,
        contests=Entrance(storage, bus, settings),
        ask_pairing=lambda game, contest: enqueue("tasks.contests.pair", game, contest),
        now_s=time.time,
    )
    timers = Timers()
    arena = Arena(conductor, timers, lambda player: pump.release(player))
    lobby.arena = arena
    lag = Lag()
    lag.start()
    pump = Pump(settings, directory, lobby, arena, lag)
    organiser = Organiser(
        registry,
        storage,
        # as if of no node: this node's own players are told by its mailbox, like all others
        Conductor(registry, store, "", lambda: enqueue("tasks.matches.archive")),
        bus,
        ask_pairing=lambda game, contest: enqueue("tasks.contests.pair", game, contest),
        ask_rating=lambda game: enqueue("tasks.ratings.rebuild", game),
    )
    app.extensions["battlebot.drain"] = pump.drain
    health = _health(client, storage, celery)
    context = Context(
        settings=settings,
        registry=registry,
        storage=storage,
        directory=directory,
        live=LiveMatches(registry, store),
        bus=bus,
        organiser=organiser,
        lookout=Lookout(storage, store, queues),
        health=health,
        away=health.away,
        redis=client,
    )
    app.before_request(lambda: _read_body(settings))
    init_api(app, context)
    init_web(app, context)
    init_websocket(app, settings, pump)
    try:
        storage.ensure_indexes()
    except Unavailable as error:
        log.warning("indexes.put_off", error=str(error))
    health.start()
    Node(client, arena, timers, lobby.tick).start()
    return app


def _read_body(settings: Settings) -> None:
    """Reads a request's body in good time: who sends it byte by byte holds a greenlet and a connection."""
    limit = settings.max_body_bytes
    if not (request.content_length or request.headers.get("Transfer-Encoding")):
        return
    if (request.content_length or 0) > limit:
        raise RequestEntityTooLarge
    # werkzeug cuts a body that announces no length off at the limit: only one byte more tells that it is too long
    request.max_content_length = limit + 1
    try:
        with gevent.Timeout(settings.body_timeout_s, RequestTimeout("The request's body did not arrive in time.")):
            body = request.get_data(cache=True)
    except ParseException:
        raise BadRequest("The request's body is not in chunks as HTTP has them.") from None
    if len(body) > limit:
        raise RequestEntityTooLarge


def _health(client: redis.Redis, storage: Storage, celery: Celery) -> Health:
    probes = Probes(client)

    def worker() -> None:
        if not celery.control.broadcast("ping", reply=True, limit=1, timeout=2.0):
            raise Unavailable("No worker answers.")

    return Health(
        {
            "redis": probes.redis,
            "mongodb": storage.ping,
            "disk": storage.room.check,
            "worker": worker,
            "sweep": probes.sweep,
            "tasks": probes.tasks,
        }
    )


def answering_workers(settings: Settings) -> list[str]:
    """The names of the Celery workers that answer a ping within a second. Raises what Celery raises for no broker."""
    answers = make_celery(settings).control.broadcast("ping", reply=True, timeout=1.0)
    return sorted(name for answer in answers or () for name in answer)


def _enqueuer(celery: Celery) -> Callable[..., None]:
    def send(task: str, arguments: tuple[object, ...]) -> None:
        try:
            celery.send_task(task, args=arguments)
        except Exception as error:
            log.warning("task.not_enqueued", task=task, error=type(error).__name__)

    def enqueue(task: str, *arguments: object) -> None:
        """Enqueues by name. A broker that is away is no error: the sweep asks for all that is still to be done.

        Nobody waits for it: a broker that hangs must not hold up the bots that are told of the same commit.
        """
        in_background(send, task, arguments)

    return enqueue
