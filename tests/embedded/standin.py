"""Stands in for `wsgi.py`: a WSGI application with /healthz, a Celery app with a task that never ends."""

import os
import sys
import time
from pathlib import Path

from celery import Celery

import battlebot.embedded.celery_hooks  # noqa: F401 - as wsgi.py does

if os.environ.get("STANDIN_BREAKS"):
    sys.exit("the stand-in breaks, as it was told")

celery = Celery(
    "standin", broker=os.environ["REDIS_URL"].replace("unix://", "redis+socket://").replace("db=", "virtual_host=")
)
celery.conf.broker_connection_retry_on_startup = True


@celery.task(name="standin.hold")
def hold(path: str) -> None:
    """Keeps a pool child busy for ever; the file shows that it is."""
    Path(path).write_text(str(os.getpid()))
    time.sleep(600)


def application(environ, start_response):
    """Answers 200 with the web worker's process id."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(os.getpid()).encode()]
