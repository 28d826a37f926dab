"""What Celery's processes need from us: our logs, and pool children that die with their worker.

Importing it is enough; `wsgi.py` and `battlebot worker` do.
"""

from __future__ import annotations

import os
from typing import Any

from celery import signals

from battlebot.config import load_settings
from battlebot.embedded.launch import die_with_parent
from battlebot.logs import configure_logs

_importer = os.getpid()


def _log_as_we_do(**_: Any) -> None:
    """Being connected keeps Celery from setting up logs of its own."""
    configure_logs(load_settings())


def _die_with_worker(**_: Any) -> None:
    """A pool child would outlive a worker that was killed, and hold on to its task."""
    if os.getpid() != _importer:
        die_with_parent(_importer)


# weak=False: nothing else holds the functions
signals.setup_logging.connect(_log_as_we_do, weak=False)
signals.worker_process_init.connect(_die_with_worker, weak=False)
