"""The entry points for gunicorn (`application`, a web node) and Celery (`celery`, for worker and beat), made lazily."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from battlebot.config import load_settings
from battlebot.embedded.uncaught import log_uncaught
from battlebot.logs import configure_logs
from battlebot.transports.socketio_lean import load_lean_servers

if TYPE_CHECKING:
    from celery import Celery
    from flask import Flask


@cache
def _application() -> Flask:
    settings = load_settings()
    configure_logs(settings)
    # again: the arbiter, whose hooks a worker inherits, had no gevent yet
    log_uncaught()
    load_lean_servers()
    from app import create_app

    return create_app(settings)


@cache
def _celery() -> Celery:
    import battlebot.embedded.celery_hooks  # noqa: F401 - our logs, in beat as well
    from tasks.celeryapp import make_celery

    settings = load_settings()
    configure_logs(settings)
    celery = make_celery(settings)
    celery.set_current()
    celery.set_default()
    return celery


def __getattr__(name: str) -> Any:
    makers = {"application": _application, "celery": _celery}
    if name not in makers:
        raise AttributeError(name)
    return makers[name]()
