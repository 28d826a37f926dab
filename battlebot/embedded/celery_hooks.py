"""Makes Celery's processes log like all others and die together. `wsgi` and a worker's `--include` option import it."""

from __future__ import annotations

import os
from typing import Any

from celery import signals

from battlebot.config import load_settings
from battlebot.embedded.launch import die_with_parent
from battlebot.logs import configure_logs

_MAIN = os.getpid()


def _log_as_we_do(**_: Any) -> None:
    """Configures our logs; a receiver of this signal also keeps Celery from setting up its own."""
    configure_logs(load_settings())


def _die_with_the_worker(**_: Any) -> None:
    """Celery sets the parent-death signal too, but does not check whether the worker died before that."""
    if os.getpid() != _MAIN:
        die_with_parent(_MAIN)


# weak=False: nothing else holds the functions
signals.setup_logging.connect(_log_as_we_do, weak=False)
signals.worker_process_init.connect(_die_with_the_worker, weak=False)
