"""Stands in for `wsgi.py`: a WSGI application with /healthz, and a Celery app with one task. Given by its name."""

import os
import sys
import time

from celery import Celery

import battlebot.embedded.celery_hooks  # noqa: F401 - as wsgi.py does

if os.environ.get("STANDIN_BREAKS"):
    sys.exit("the stand-in breaks, as it was told")

celery = Celery(
    "standin", broker=os.environ["REDIS_URL"].replace("unix://", "redis+socket://").replace("db=", "virtual_host=")
)
celery.conf.result_backend = celery.conf.broker_url
celery.conf.broker_connection_retry_on_startup = True


@celery.task(name="standin.pid")
def pid() -> int:
    """The process that ran it."""
    return os.getpid()


@celery.task(name="standin.sleep")
def sleep(seconds: float) -> None:
    """Keeps a pool child busy."""
    time.sleep(seconds)


def application(environ, start_response):
    """200 with the web worker's process id."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(os.getpid()).encode()]
