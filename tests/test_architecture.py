"""The arrows of the house run one way: the tables of house_rules.py hold for the tree, and each row can fail."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from house_rules import DOORS, KEYS, LAYERS, OWNERS, module_of, violations

ROOT = Path(__file__).parent.parent


def test_the_house_keeps_its_rules() -> None:
    """Each line says where, what, and which rule."""
    found = violations(ROOT)
    assert not found, "\n" + "\n".join(found)


def test_no_two_files_of_tests_have_one_name() -> None:
    """pytest imports them by their names alone: the second would not be run."""
    names = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_every_part_has_its_place() -> None:
    """A new package is given a row in LAYERS before anything else."""
    parts = {module_of(path.relative_to(ROOT)) for path in (ROOT / "battlebot").iterdir() if path.suffix == ".py"}
    parts |= {f"battlebot.{path.parent.name}" for path in (ROOT / "battlebot").glob("*/*.py")}
    for part in ("arena", "contests", "stateless"):
        parts |= {module_of(path.relative_to(ROOT)) for path in (ROOT / "battlebot" / part).glob("*/__init__.py")}
    assert parts - {"battlebot"} <= LAYERS.keys()
    assert len(parts) > 15, "the walk has found the tree"


BROKEN = [
    ("games/chess.py", "from battlebot.errors import BadGame", "games"),
    ("games/chess.py", "import numpy", "games"),
    ("games/chess.py", "from datetime import datetime", "games"),
    ("games/chess/board.py", "import secrets", "games"),
    ("battlebot/errors.py", "import battlebot.config", "battlebot.errors"),
    ("battlebot/storable.py", "import bson", "battlebot.storable"),
    ("battlebot/config/loading.py", "from battlebot import logs", "battlebot.config"),
    ("battlebot/config/loading.py", "import socket", "battlebot.config"),
    ("battlebot/logs.py", "import battlebot.redisio.bus", "battlebot.logs"),
    ("battlebot/wire/frames.py", "def f():\n    import asyncio", "battlebot.wire"),
    ("battlebot/wire/frames.py", "import flask", "battlebot.wire"),
    ("battlebot/wire/frames.py", "from ..rules import contract", "battlebot.wire"),
    ("battlebot/wire/__init__.py", "from ..rules import contract", "battlebot.wire"),
    ("battlebot/rules/contract.py", "from importlib import import_module", "battlebot.rules"),
    ("battlebot/rules/registry.py", "import os", "battlebot.rules.registry"),
    ("battlebot/rules/registry.py", "import battlebot.storage", "battlebot.rules.registry"),
    ("battlebot/referee/step.py", "import time", "battlebot.referee"),
    ("battlebot/referee/step.py", "from random import Random", "battlebot.referee"),
    ("battlebot/referee/step.py", "import orjson", "battlebot.referee"),
    ("battlebot/referee/step.py", "from battlebot.config import Settings", "battlebot.referee"),
    ("battlebot/contests/standings.py", "from battlebot.storage import Storage", "battlebot.contests"),
    ("battlebot/contests/contest.py", "import battlebot.contests.cap", "battlebot.contests.contest"),
    ("battlebot/contests/formats/swiss.py", "import battlebot.arena.live.store", "battlebot.contests.formats"),
    ("battlebot/contests/formats/swiss.py", "import random", "battlebot.contests.formats"),
    ("battlebot/contests/formats/swiss.py", "import battlebot.contests.cap", "battlebot.contests.formats"),
    ("battlebot/contests/service.py", "from battlebot.api import context", "battlebot.contests.service"),
    ("battlebot/ratings/rating.py", "import battlebot.storage", "battlebot.ratings"),
    ("battlebot/ratings/progress.py", "from openskill.models import PlackettLuce", "battlebot.ratings"),
    ("battlebot/ratings/model.py", "import random", "battlebot.ratings.model"),
    ("battlebot/ratings/service.py", "import battlebot.redisio.mutex", "battlebot.ratings.service"),
    ("battlebot/ratings/service.py", "import openskill", "battlebot.ratings.service"),
    ("battlebot/stateless/stretch.py", "from battlebot.contests import standings", "battlebot.stateless"),
    ("battlebot/stateless/http/bots.py", "from battlebot.referee.match import Match", "battlebot.stateless.http"),
    ("battlebot/stateless/nats/bots.py", "from battlebot.stateless.http import tls", "battlebot.stateless.nats"),
    ("battlebot/storage/games.py", "from battlebot.referee.match import Match", "battlebot.storage"),
    ("battlebot/runtime/gate.py", "import battlebot.redisio.keys", "battlebot.runtime"),
    ("battlebot/redisio/transactions.py", "from battlebot.referee.match import Match", "battlebot.redisio"),
    ("battlebot/arena/__init__.py", "from battlebot.storage import Storage", "battlebot.arena"),
    ("battlebot/arena/places.py", "import secrets", "battlebot.arena.places"),
    ("battlebot/arena/live/sweep.py", "from battlebot.arena.node.tables import Table", "battlebot.arena.live"),
    ("battlebot/arena/node/service.py", "import battlebot.contests.standings", "battlebot.arena.node"),
    ("battlebot/arena/names/presence.py", "from battlebot.arena.live import store", "battlebot.arena.names"),
    ("battlebot/matchmaking/lobby.py", "from battlebot.storage import Storage", "battlebot.matchmaking"),
    ("battlebot/transports/tcp.py", "from battlebot.rules.contract import Game", "battlebot.transports"),
    ("battlebot/transports/pump.py", "import battlebot.storage.bots", "battlebot.transports"),
    ("battlebot/transports/tcp.py", "from battlebot.transports import socketio_servers", "DOORS"),
    ("battlebot/transports/pump.py", "from .websocket import mount", "DOORS"),
    ("battlebot/transports/socketio_servers.py", "from battlebot.transports import tcp_frames", "DOORS"),
    ("battlebot/api/live.py", "from battlebot.referee.match import Match", "battlebot.api"),
    ("battlebot/web/pages.py", "from battlebot.storage import Storage", "battlebot.web"),
    ("battlebot/web/replay.py", "import battlebot.referee.step", "battlebot.web.replay"),
    ("battlebot/embedded/valkey.py", "from battlebot.arena import keys", "battlebot.embedded"),
    ("battlebot/embedded/webworker.py", "from battlebot.wire import login", "battlebot.embedded.webworker"),
    ("battlebot/embedded/webparser.py", "from battlebot.wire import addresses", "battlebot.embedded.webparser"),
    ("battlebot/client/bot.py", "from battlebot.config import Settings", "battlebot.client"),
    ("battlebot/client/bot.py", "from battlebot.errors import Refused", "battlebot.client"),
    ("battlebot/cli/show.py", "import battlebot.arena.live.store", "battlebot.cli"),
    ("battlebot/cli/contest_fields.py", "from battlebot.contests import standings", "battlebot.cli.contest_fields"),
    ("battlebot/cli/renew.py", "from battlebot.storage.bots import Bots", "battlebot.cli.renew"),
    ("battlebot/cli/ratings.py", "import battlebot.redisio.mutex", "battlebot.cli.ratings"),
    ("battlebot/cli/export.py", "from battlebot.storage import Storage", "battlebot.cli.export"),
    ("battlebot/cli/doctor.py", "import battlebot.redisio.inspection", "battlebot.cli.doctor"),
    ("battlebot/doctor/work.py", "import battlebot.arena.live.store", "battlebot.doctor"),
    ("battlebot/cli/database.py", "from battlebot.client import run", "battlebot.cli.database"),
    ("battlebot/cli/verify.py", "import battlebot.referee.step", "battlebot.cli.verify"),
    ("battlebot/cli/gamescheck.py", "from battlebot.rules import probe", "battlebot.cli.gamescheck"),
    ("battlebot/cli/rest.py", "from battlebot.storage import Storage", "battlebot.cli.rest"),
    ("battlebot/cli/tcp_node.py", "import battlebot.transports.tcp", "battlebot.cli.tcp_node"),
    ("battlebot/__main__.py", "import battlebot.embedded", "battlebot.__main__"),
    ("tasks/matches.py", "from battlebot.web import pages", "tasks"),
    ("wsgi.py", "import battlebot.arena", "wsgi"),
    ("battlebot/contests/service.py", "import redis", "only redis"),
    ("battlebot/matchmaking/lobby.py", "if TYPE_CHECKING:\n    import redis", "only redis"),
    ("battlebot/arena/names/directory.py", "from pymongo.errors import PyMongoError", "only pymongo"),
    ("battlebot/api/reading.py", "from bson import ObjectId", "only bson"),
    ("battlebot/arena/node/service.py", "from flask import current_app", "only flask"),
    ("battlebot/arena/node/service.py", "from gevent import sleep", "only gevent"),
    ("battlebot/matchmaking/lobby.py", "from celery import current_app", "only celery"),
    ("battlebot/embedded/server.py", "from app import create_app", "only app"),
    ("battlebot/cli/__init__.py", "import wsgi", "only wsgi"),
    ("battlebot/api/reading.py", "from tasks.matches import archive", "only tasks"),
    ("battlebot/web/pages.py", 'importlib.import_module("tasks.contests")', "only tasks"),
    ("app.py", "from games import numberwang", "only games"),
    ("battlebot/rules/registry.py", '__import__("games.chess")', "only games"),
    ("battlebot/web/board.py", "from battlebot.referee import step", "only battlebot.referee.step"),
    ("battlebot/stateless/trial.py", "from battlebot.referee.telling import seen_by", "only battlebot.referee.telling"),
    ("battlebot/api/reading.py", "import battlebot.contests.service", "only battlebot.contests.service"),
    ("battlebot/ratings/rating.py", "from battlebot.ratings import model", "only battlebot.ratings.model"),
    ("battlebot/web/pages.py", "from battlebot.ratings.service import Rater", "only battlebot.ratings.service"),
    ("battlebot/web/pages.py", 'CHANNEL = f"bb:{{0}}:node:{name}"', "KEYS"),
    ("battlebot/spectators/board.py", "import json", "a new part"),
]
SENTENCES = {
    **{name: row.sentence for name, row in LAYERS.items()},
    **{f"only {name}": sentence for name, (sentence, _) in OWNERS.items()},
    "DOORS": DOORS,
    "KEYS": KEYS,
    "a new part": "this part has no row in LAYERS: give it its place",
}


def house(root: Path, path: str, text: str) -> Path:
    """A house of one file."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text + "\n")
    return root


@pytest.mark.parametrize(("path", "text", "rule"), BROKEN, ids=lambda value: value[:40])
def test_each_rule_can_fail(path: str, text: str, rule: str, tmp_path: Path) -> None:
    """By file, line and sentence."""
    found = violations(house(tmp_path, path, text))
    line = text.count("\n") + 1
    assert any(one.startswith(f"{path}:{line}: ") and one.endswith(SENTENCES[rule]) for one in found), found


def test_every_rule_has_been_broken() -> None:
    """No row of the tables is without a case above; app.py may import all but games, which has a case of its own."""
    assert {rule for _, _, rule in BROKEN} == SENTENCES.keys() - {"app"}


GOOD = [
    (
        "games/chess.py",
        "from __future__ import annotations\nimport random, math\nfrom dawg2 import DAWG\nfrom . import pieces",
    ),
    (
        "battlebot/referee/step.py",
        "from dataclasses import replace\nfrom battlebot.rules.contract import Game\nfrom . import match",
    ),
    ("battlebot/wire/login.py", "import secrets, hmac\nfrom battlebot.wire import names\nfrom ..errors import BadName"),
    ("battlebot/rules/registry.py", "import importlib\nimportlib.import_module(name)"),
    ("battlebot/arena/names/directory.py", "import redis\nfrom battlebot.storage import Storage"),
    ("battlebot/transports/websocket.py", "import flask\nfrom battlebot.transports import pump, wsconnection"),
    ("battlebot/transports/socketio_servers.py", "from battlebot.transports.wsconnection import WebSocket"),
    ("battlebot/api/reading.py", 'enqueue("tasks.matches.archive")\nfrom battlebot.contests.standings import ranking'),
    (
        "app.py",
        "import redis, flask\nfrom battlebot.contests.service import Contests\nfrom tasks.celeryapp import make_celery",
    ),
    ("tests/anything.py", "import app, games.chess, pymongo"),
]


@pytest.mark.parametrize(("path", "text"), GOOD, ids=lambda value: value[:30])
def test_what_is_allowed_passes(path: str, text: str, tmp_path: Path) -> None:
    """No rule is broken by what the design wants."""
    assert violations(house(tmp_path, path, text)) == []
