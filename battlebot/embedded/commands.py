"""The command lines of Battlebot's own parts: the web node, the TCP door, a worker, beat."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from battlebot.config import Settings, as_environment

# Otherwise gevent walks the stack to record where each greenlet was spawned: a tenth of the cost of a question to a bot
UNTRACED = {"GEVENT_TRACK_GREENLET_TREE": "false"}

DEFAULT = "battlebot"  # the queue of all other tasks
BOTS = "bots"  # the queue of the tasks that ask stateless bots

CELERY = "battlebot.embedded.celery_part"


def web_command(wsgi_module: str = "wsgi") -> list[str]:
    """gunicorn with one gevent worker; `gunicorn_conf` reads its options from the same environment."""
    return [*_module("gunicorn"), "-c", "python:battlebot.embedded.gunicorn_conf", f"{wsgi_module}:application"]


def worker_command(settings: Settings, wsgi_module: str = "wsgi", queue: str = "", name: str = "worker") -> list[str]:
    """A Celery worker. `queue`: empty for the default queue. `name`: unique among the workers.

    A worker that serves the queue of stateless bots uses greenlets, because it mostly waits for the bots.
    """
    asks = queue == BOTS
    return [
        *(_greened(CELERY) if asks else _module(CELERY)),
        wsgi_module,
        "worker",
        f"--name={name}-{os.getpid()}",
        f"--pool={'gevent' if asks else 'prefork'}",
        f"--concurrency={settings.bots_concurrency if asks else settings.worker_concurrency}",
        *([f"--queues={queue}"] if queue else []),
    ]


def asking_parts(settings: Settings) -> list[str]:
    """The names of `serve`'s workers that ask stateless bots: bots, bots2, bots3."""
    return [BOTS if number == 1 else f"{BOTS}{number}" for number in range(1, settings.bots_workers + 1)]


def tcp_command() -> list[str]:
    """A node with the TCP door."""
    return _greened("battlebot.cli.tcp_node")


def beat_command(schedule: Path, wsgi_module: str = "wsgi") -> list[str]:
    """Celery beat, which touches the file `schedule` now and then, to show that it runs."""
    return [*_module(CELERY), wsgi_module, "beat", f"--schedule={schedule}"]


def environment(settings: Settings) -> dict[str, str]:
    """Our environment plus `settings`, for a child that loads them again; without what it says to another's Celery.

    Celery reads `CELERY_BROKER_URL` and the like before what its application says: our tasks would go there.
    """
    ours = {name: value for name, value in os.environ.items() if not name.startswith("CELERY_")}
    return {**UNTRACED, **ours, **as_environment(settings)}


def _greened(name: str) -> list[str]:
    """Like `_module`; gevent patches the standard library before anything else is imported."""
    return [*_module("gevent.monkey"), "--module", name]


def _module(name: str) -> list[str]:
    """Like `python -m name`, but modules in the working directory do not hide those of the server and its libraries."""
    return [sys.executable, "-P", "-m", "battlebot.embedded.runmodule", name]
