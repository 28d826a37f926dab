"""gunicorn's configuration file, loaded by the arbiter: each name known to gunicorn is one of its settings.

Keep its imports few: they run before gevent patches the worker.
"""

from __future__ import annotations

import math
import os
import signal
import socket
import traceback
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from gunicorn import glogging

from battlebot.config import load_settings
from battlebot.embedded.address import bind_address
from battlebot.embedded.collector import keep_loaded_code
from battlebot.embedded.interrupts import hang_up_is_ignored, has_terminal
from battlebot.embedded.launch import die_with_parent
from battlebot.embedded.openfiles import allowed_connections, warn_of_few_files
from battlebot.embedded.succession import lineage
from battlebot.embedded.uncaught import log_uncaught
from battlebot.logs import configure_logs

INNERMOST = 8  # frames in the log of a worker that hangs

_settings = load_settings()
_hang_up_is_ignored = hang_up_is_ignored()
_SHARED_MEMORY = "/dev/shm"  # noqa: S108


class _Logger(glogging.Logger):
    """gunicorn's logger; passes its records to our root logger."""

    def setup(self, cfg: Any) -> None:
        """Configure the logs: called once in the arbiter, inherited by the workers."""
        configure_logs(_settings)
        log_uncaught()
        for log in (self.error_log, self.access_log):
            log.handlers.clear()
            log.propagate = True


# As `runmodule` has it on the module path; by itself gunicorn takes the name that the shell has for the folder
chdir = str(Path.cwd())
bind = bind_address(_settings.host, _settings.port)
worker_class = "battlebot.embedded.webworker.WebWorker"
workers = 1
worker_connections = allowed_connections(_settings.max_connections)
backlog = 2048
http_protocols = "h1"
limit_request_line = _settings.max_request_line_bytes
limit_request_fields = _settings.max_headers
limit_request_field_size = _settings.max_header_bytes
# gunicorn trusts no forwarded address: the application decides that by BATTLEBOT_TRUSTED_PROXIES
forwarded_allow_ips = ""
# Within 1.5 s the port is closed and the bots are sent away. The last messages have close_timeout_s to be sent; a
# second later the remaining connections are cut
graceful_timeout = math.ceil(_settings.close_timeout_s + 2.5)
timeout = 30
# Must not be 0, which disables keep-alive. The worker limits the wait for the next request by `header_timeout_s`
keepalive = 1
accesslog = None
logger_class = _Logger
# The socket is one file per user: two servers on a machine would conflict
control_socket_disable = True
# For the heartbeat file: on a slow disk a worker would be taken for dead
worker_tmp_dir = _SHARED_MEMORY if os.access(_SHARED_MEMORY, os.W_OK | os.X_OK) else None


def on_starting(_server: Any) -> None:
    """Say if there is room for fewer connections than `BATTLEBOT_MAX_CONNECTIONS`: each bot needs an open file."""
    warn_of_few_files(worker_connections, _settings.max_connections)


def when_ready(server: Any) -> None:
    """Refuse connections until a worker serves, so that clients try another node instead of waiting.

    SIGHUP starts the worker anew, except under `nohup`; in a terminal it says that that is gone, and the node ends.
    The first SIGINT is as SIGTERM, the next ends the node at once; gunicorn would drop the bots at the first.
    """
    _refuse(server)
    signal.signal(signal.SIGINT, partial(_interrupt, server))
    if _hang_up_is_ignored:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    elif has_terminal():
        signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getpid(), signal.SIGTERM))


def _interrupt(server: Any, *_: Any) -> None:
    signal.signal(signal.SIGINT, lambda *_: server.kill_workers(signal.SIGKILL))
    os.kill(os.getpid(), signal.SIGTERM)


def pre_fork(server: Any, worker: Any) -> None:
    """Name the worker, and have it know which have ended: their bots need not wait for missing heartbeats."""
    worker.succession = lineage.next()


def child_exit(server: Any, worker: Any) -> None:
    """Refuse connections again after the last worker has gone; the next worker reopens the port."""
    lineage.end(worker.succession)
    if not server.WORKERS:
        _refuse(server)


def _refuse(server: Any) -> None:
    # A port passed by systemd or by the arbiter that this one replaces must stay open
    if server.systemd or server.master_pid:
        return
    for listener in server.LISTENERS:
        # Linux keeps the port bound and can listen again. Elsewhere this is an error, and clients wait
        with suppress(OSError):
            # Shut down twice, it would break every connection that it accepts when it listens again
            if listener.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                listener.sock.shutdown(socket.SHUT_RDWR)


def post_worker_init(worker: Any) -> None:
    """Open the port."""
    for listener in worker.sockets:
        listener.listen(backlog)
    keep_loaded_code()

    # a terminal tells all processes of it that it closes, and of Ctrl-C; the arbiter decides
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def worker_abort(worker: Any) -> None:
    """Die at once, like a killed node, because the worker hangs: its bots have the grace period to come back.

    gunicorn would end their conversations one by one, by an exception in their greenlets. Logs where it hangs: nothing
    else tells of a game's function that never returns.
    """
    try:
        # the last two are gunicorn's handler and this function
        frames = traceback.extract_stack()[-2 - INNERMOST : -2]
        where = ", ".join(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in reversed(frames))
        worker.log.critical("Hangs, for over %d seconds: %s", worker.cfg.timeout, where)
    finally:
        os._exit(1)


def post_fork(server: Any, worker: Any) -> None:
    """Make sure that the worker does not outlive a killed arbiter, and tell it whose place it takes."""
    lineage.own = worker.succession
    die_with_parent(server.pid)
