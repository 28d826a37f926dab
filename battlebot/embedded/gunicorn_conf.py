"""gunicorn's configuration file: every name in it that gunicorn knows is one of its settings. Loaded by the arbiter.

It must stay light: what is imported here is imported before gevent patches the worker.
"""

from __future__ import annotations

import gc
import math
import resource
import signal
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

from gunicorn import glogging

from battlebot.config import load_settings
from battlebot.embedded.address import bind_address
from battlebot.embedded.launch import die_with_parent
from battlebot.logs import configure_logs

_settings = load_settings()
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108


class _Logger(glogging.Logger):
    """gunicorn's logger, its lines handed to the root logger, which is ours."""

    def setup(self, cfg: Any) -> None:
        """Called once in the arbiter; workers inherit what it did."""
        configure_logs(_settings)
        for log in (self.error_log, self.access_log):
            log.handlers.clear()
            log.propagate = True


bind = bind_address(_settings.host, _settings.port)
worker_class = "battlebot.embedded.webworker.WebWorker"
workers = 1
worker_connections = _settings.max_connections
backlog = 2048
http_protocols = "h1"
limit_request_line = _settings.max_request_line_bytes
limit_request_fields = _settings.max_headers
limit_request_field_size = _settings.max_header_bytes
# Nobody's word is taken here for where a request comes from: BATTLEBOT_TRUSTED_PROXIES decides that in the application
forwarded_allow_ips = ""
# The last messages have close_timeout_s to leave; whoever has not gone a second later is cut
graceful_timeout = math.ceil(_settings.close_timeout_s) + 1
timeout = 30
# Not 0: how long a connection is kept is `header_timeout_s`, and the worker's to see to
keepalive = 1
accesslog = None
logger_class = _Logger
# It would be one file a user, over which two servers on a machine would fall out
control_socket_disable = True
# The heartbeat file: on a slow disk a worker would be taken for dead
worker_tmp_dir = str(_SHARED_MEMORY) if _SHARED_MEMORY.is_dir() else None


def on_starting(server: Any) -> None:
    """Each bot is an open file: take as many as the system lets us."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (ValueError, OSError):
        server.log.warning("The limit of open files stays at %s", resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def when_ready(server: Any) -> None:
    """Nobody is let in before a worker serves: who comes is refused, and goes to another node instead of waiting."""
    _refuse(server)


def child_exit(server: Any, worker: Any) -> None:
    """As at the start: the next worker opens the port again."""
    if not server.WORKERS:
        _refuse(server)


def _refuse(server: Any) -> None:
    # a port of systemd's, or of an arbiter that this one follows, is not this one's to close
    if server.systemd or server.master_pid:
        return
    for listener in server.LISTENERS:
        # Linux keeps the port, and listens again when it is told to; elsewhere it is an error, and who comes waits
        with suppress(OSError):
            listener.sock.shutdown(socket.SHUT_RDWR)


def post_worker_init(worker: Any) -> None:
    """Opens the port. On SIGTERM the bots are sent to another node first, then gunicorn stops as it does."""
    import gevent

    for listener in worker.sockets:
        listener.listen(backlog)
    # What was loaded stays; were it looked through with what turns leave behind, that took 5 % of a busy node's time
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)

    def stop() -> None:
        drain = getattr(worker.wsgi, "extensions", {}).get("battlebot.drain")
        if drain is not None:
            drain()
        worker.stop_waiting()
        worker.handle_exit(signal.SIGTERM, None)

    gevent.signal_handler(signal.SIGTERM, stop)


def post_fork(server: Any, worker: Any) -> None:
    """A worker must not outlive an arbiter that was killed."""
    die_with_parent(server.pid)
