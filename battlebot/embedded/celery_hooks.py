"""Makes Celery's processes log like all others and die together. `wsgi` imports it."""

from __future__ import annotations

import atexit
import logging
import os
import signal
from functools import partial
from typing import Any

from billiard import util as billiard_util
from celery import platforms, signals
from celery.apps import worker as apps_worker

from battlebot.config import load_settings
from battlebot.embedded.collector import keep_loaded_code
from battlebot.embedded.interrupts import hang_up_is_ignored
from battlebot.embedded.launch import die_with_parent
from battlebot.embedded.uncaught import log_uncaught
from battlebot.logs import configure_logs

_MAIN = os.getpid()
_HANG_UP_IS_IGNORED = hang_up_is_ignored()
_ENDS = (signal.SIGTERM, signal.SIGINT)


def _log_as_we_do(**_: Any) -> None:
    """Configures our logs; a receiver of this signal also keeps Celery from setting up its own."""
    configure_logs(load_settings())
    log_uncaught()
    _log_pools()


def _log_pools() -> None:
    """Has our logs get what goes wrong in the pool's processes: its own logger writes that to stderr as it is."""
    pools = billiard_util.get_logger()
    pools.propagate = True
    pools.setLevel(logging.WARNING)

    def error(*arguments: Any, **named: Any) -> bool:
        pools.error(*arguments, **named)
        return True  # it is told: otherwise the process that ends by it writes the traceback, too

    billiard_util.error = error


def _keep_loaded_code(**_: Any) -> None:
    keep_loaded_code()


def _die_with_the_worker(**_: Any) -> None:
    """In place of Celery's `set_pdeathsig`, which does not check whether the worker died before that."""
    if os.getpid() != _MAIN:
        die_with_parent(_MAIN)
        # a terminal that closes tells all processes of it; the worker decides
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _heed_hang_up(**_: Any) -> None:
    """Ends the worker at SIGHUP as at SIGTERM, unless that is ignored, as under `nohup`."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN if _HANG_UP_IS_IGNORED else signal.getsignal(signal.SIGTERM))


def _end_beat_once(**_: Any) -> None:
    """Celery's handler would raise a second exit while Python ends by the first: an error that nobody catches."""
    for signum in _ENDS:
        signal.signal(signum, partial(_end, signal.getsignal(signum)))


def _end(ends: Any, *signalled: Any) -> None:
    for signum in _ENDS:
        signal.signal(signum, lambda *_: os._exit(0))
    atexit.register(_ignore_ends)
    ends(*signalled)


def _ignore_ends() -> None:
    """Python's last steps put the system's handlers, which end a process by the signal, in place of ours."""
    for signum in _ENDS:
        signal.signal(signum, signal.SIG_IGN)


# at SIGHUP Celery would start the worker anew, by a command that is not there
apps_worker.install_worker_restart_handler = lambda _worker: None
# it warns of root, for whom tasks that bring code along matter (ours are JSON), and of a group without a name
apps_worker.check_privileges = lambda _accepted: None
# `_die_with_the_worker` sets that signal; here each process of a pool would load a parser of C for it
platforms.set_pdeathsig = lambda _name: None
# weak=False: nothing else holds the functions
signals.worker_process_init.connect(_keep_loaded_code, weak=False)
signals.worker_ready.connect(_keep_loaded_code, weak=False)
signals.beat_init.connect(_keep_loaded_code, weak=False)
signals.beat_init.connect(_end_beat_once, weak=False)
signals.setup_logging.connect(_log_as_we_do, weak=False)
signals.worker_process_init.connect(_die_with_the_worker, weak=False)
signals.worker_ready.connect(_heed_hang_up, weak=False)
