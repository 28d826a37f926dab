"""Makes Celery's processes log like all others and die together. `wsgi` and a worker's `--include` option import it."""

from __future__ import annotations

import os
import signal
from typing import Any

from celery import signals
from celery.apps import worker as apps_worker

from battlebot.config import load_settings
from battlebot.embedded.collector import keep_loaded_code
from battlebot.embedded.interrupts import hang_up_is_ignored
from battlebot.embedded.launch import die_with_parent
from battlebot.embedded.uncaught import log_uncaught
from battlebot.logs import configure_logs

_MAIN = os.getpid()
_HANG_UP_IS_IGNORED = hang_up_is_ignored()


def _log_as_we_do(**_: Any) -> None:
    """Configures our logs; a receiver of this signal also keeps Celery from setting up its own."""
    configure_logs(load_settings())
    log_uncaught()


def _keep_loaded_code(**_: Any) -> None:
    keep_loaded_code()


def _die_with_the_worker(**_: Any) -> None:
    """Celery sets the parent-death signal too, but does not check whether the worker died before that."""
    if os.getpid() != _MAIN:
        die_with_parent(_MAIN)
        # a terminal that closes tells all processes of it; the worker decides
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _heed_hang_up(**_: Any) -> None:
    """Ends the worker at SIGHUP as at SIGTERM, unless that is ignored, as under `nohup`."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN if _HANG_UP_IS_IGNORED else signal.getsignal(signal.SIGTERM))


# at SIGHUP Celery would start the worker anew, by a command that is not there
apps_worker.install_worker_restart_handler = lambda _worker: None
# it warns of root, for whom tasks that bring code along matter (ours are JSON), and of a group without a name
apps_worker.check_privileges = lambda _accepted: None
# weak=False: nothing else holds the functions
signals.worker_process_init.connect(_keep_loaded_code, weak=False)
signals.worker_ready.connect(_keep_loaded_code, weak=False)
signals.beat_init.connect(_keep_loaded_code, weak=False)
signals.setup_logging.connect(_log_as_we_do, weak=False)
signals.worker_process_init.connect(_die_with_the_worker, weak=False)
signals.worker_ready.connect(_heed_hang_up, weak=False)
