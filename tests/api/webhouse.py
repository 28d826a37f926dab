"""An app with the API and the pages over real stores, for the tests of both; and matches to put into it."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
import redis
from conductors import Conductor
from flask import Flask
from flask.testing import FlaskClient
from records import reserve
from werkzeug.test import TestResponse

from battlebot.api import Context, init_api
from battlebot.api.concurrency import while_tested
from battlebot.api.context import CONTEXT_KEY
from battlebot.api.unread import EXTENSION as UNREAD
from battlebot.api.unread import Unread
from battlebot.arena.live.calls import Beginning
from battlebot.arena.live.queue import Queues
from battlebot.arena.live.store import MatchStore
from battlebot.arena.live.viewing import LiveMatches
from battlebot.arena.names.copies import Copies
from battlebot.arena.names.directory import Directory
from battlebot.arena.names.presence import Presence
from battlebot.config import Settings
from battlebot.contests.service.lookout import Lookout
from battlebot.contests.service.organiser import Organiser
from battlebot.matchmaking.missing import Missing
from battlebot.redisio.bus import Bus
from battlebot.redisio.connection import connect
from battlebot.referee.match import Limits, Match, Seat
from battlebot.rules.registry import discover
from battlebot.stateless.health import Health
from battlebot.stateless.kinds import make_askers
from battlebot.stateless.registering import StatelessBots
from battlebot.stateless.trial import Trial
from battlebot.storage import Storage
from battlebot.storage.vault import Vault
from battlebot.web import init_web

CONTESTS = "/games/noughtsandcrosses/contests"
NOON = datetime(2026, 11, 21, 12, 0, 0, 123456, tzinfo=UTC)
X_WINS = [["X", "X", "X"], ["O", "O", ""], ["", "", ""]]

REGISTRY = discover()
seqs = itertools.count(1)


@dataclass
class House:
    """The app and what it is built on."""

    app: Flask
    context: Context
    store: MatchStore
    parts: dict[str, str]  # what `health` returns

    @property
    def storage(self) -> Storage:
        return self.context.storage

    @property
    def client(self) -> FlaskClient:
        return self.app.test_client()

    @property
    def redis(self) -> redis.Redis:
        return self.store.client

    def organise(self, method: str, path: str, body: Any = None, token: str | None = None) -> TestResponse:
        """Sends an organiser's request to a path of noughts and crosses' contests, by default with a new token."""
        if token is None:
            token = self.storage.tokens.create(f"organiser {secrets.token_hex(4)}")
        headers = {"Authorization": f"Bearer {token}"}
        return self.client.open(f"{CONTESTS}{path}", method=method, json=body, headers=headers)

    def register(self, *bots: str) -> None:
        """Registers bots for noughts and crosses."""
        for bot in bots:
            self.storage.bots.register("noughtsandcrosses", bot, "owner", b"sealed", bot)

    def play(self, a: str, b: str, victor: str | None, contest: str | None = None, **more: Any) -> str:
        """Stores a finished match of noughts and crosses; reserves its meeting if it belongs to a contest."""
        document = finished(a, b, victor, contest, **more)
        if contest is not None:
            meeting = {"match": document["_id"], "bots": [a, b], "n": more.get("n", next(seqs))}
            reserve(self.storage, document["game"], contest, [meeting])
        self.storage.archive.store([document])
        return document["_id"]

    def contest(self, name: str = "autumn", bots: tuple[str, ...] = (), meetings: int = 5) -> None:
        """Opens a contest of noughts and crosses with these bots."""
        self.storage.contests.open("noughtsandcrosses", name, meetings)
        for bot in bots:
            self.storage.standings.enter([("noughtsandcrosses", name, bot)])

    def begin(self, a: str, b: str, game: str = "noughtsandcrosses", contest: str | None = None) -> Match:
        """Puts a running match into Redis."""
        match = Match(
            id=secrets.token_hex(12),
            game=game,
            contest=contest,
            seats=(Seat(a, "n/1", 3.0), Seat(b, "n/2", 3.0)),
            state=REGISTRY[game].initial_state([a, b], 1, {}),
            limits=Limits(),
            options={},
            seed=1,
            started_s=NOON.timestamp(),
            due_s=NOON.timestamp() + 1e6,
        )
        assert self.store.begin(Beginning(match, [], []), "queue")
        return match


def finished(a: str, b: str, victor: str | None, contest: str | None = None, **more: Any) -> dict[str, Any]:
    """Returns a finished match as the archive takes it; `fault`, `reason`, `turns`, `game`, state keys are optional."""
    fault = more.pop("fault", "none")
    more.pop("n", None)
    seq = next(seqs)
    time_ms = int(NOON.timestamp() * 1000)
    return {
        "_id": secrets.token_hex(12),
        "game": "noughtsandcrosses",
        "contest": contest,
        "players": [a, b],
        "victor": victor,
        "reason": "complete",
        "startTime": NOON + timedelta(seconds=seq),
        "board": X_WINS,
        "marks": {"X": a, "O": b},
        "turns": [{"mark": "X", "space": [0, 0], "player": a, "time": time_ms + 5}],
        "match": {
            "seq": seq,
            "endTime": NOON + timedelta(seconds=seq, milliseconds=250),
            "fault": fault,
            "void": fault == "server",
            "evidence": {},
            "clocks": [7],
            "version": 1,
        },
        **more,
    }


@contextmanager
def house(settings: Settings, answer_within_s: float = 2.0, app: Flask | None = None) -> Iterator[House]:
    """Yields an app over the stores of `settings`: one of its own, or `app`, which then is as it was afterwards."""
    client: redis.Redis = connect(settings.redis_url, timeout_s=1.0)
    storage = Storage(settings, answer_within_s)
    store = MatchStore(client)
    parts = {"redis": "ok", "mongodb": "ok", "worker": "ok"}
    used_names = partial(Presence(client).used_names, settings.node_timeout_s)
    directory = Directory(storage, Vault("0123456789abcdef"), used_names, Copies(client))
    trial = Trial(REGISTRY, settings, make_askers(replace(settings, bot_loopback=True)))
    context = Context(
        settings=settings,
        registry=REGISTRY,
        storage=storage,
        directory=directory,
        stateless=StatelessBots(storage, directory, trial, Health(client), Queues(client), while_tested),
        live=LiveMatches(REGISTRY, store),
        presence=Presence(client),
        bus=Bus(client),
        organiser=Organiser(
            storage, Conductor(REGISTRY, store), Bus(client), lambda game, contest: None, lambda game: None
        ),
        lookout=Lookout(storage, store, Queues(client), Missing(client), settings.bot_matches, REGISTRY),
        health=lambda: dict(parts),
        away=dict,
    )
    if app is None:
        app = Flask("battlebot", static_folder=None)
        init_api(app, context)
        init_web(app, context)
    # tests that read an answer do not all close it
    as_made = {**app.extensions, CONTEXT_KEY: context, UNREAD: Unread()}
    app.extensions = dict(as_made)
    try:
        yield House(app, context, store, parts)
    finally:
        # what an app keeps of what it has shown is no other test's
        app.extensions = as_made
        storage.close()


@pytest.fixture(scope="session")
def app(stores: Settings) -> Flask:
    """Returns the app of all tests that need none with settings of their own: making one takes longer than most."""
    # it counts the requests of all these tests together
    with house(replace(stores, requests_per_minute=1_000_000)) as opened:
        return opened.app


@pytest.fixture
def home(settings: Settings, app: Flask) -> Iterator[House]:
    """Yields the app over an empty database and an empty Redis."""
    with house(settings, app=app) as opened:
        opened.storage.ensure_indexes()
        yield opened


@pytest.fixture
def client(home: House) -> FlaskClient:
    """Returns a client that sends requests to the app."""
    return home.client
