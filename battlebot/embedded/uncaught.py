"""What nobody caught becomes an event in the log of its part, without secrets, instead of a bare traceback on stderr.

By itself Python writes an exception that ends a thread, or gevent one that ends a greenlet, as it is: its message may
hold a store's address with its password, and whoever searches the logs for errors does not find it.
"""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from types import TracebackType
from typing import Any

EVENT = "error.uncaught"


def log_uncaught() -> None:
    """Have this process, and those that it forks, log what nobody caught. Call once the logs are configured.

    gevent's hub, if the process has one, must have been imported.
    """
    sys.excepthook = _end_of_process
    threading.excepthook = _end_of_thread
    sys.unraisablehook = _unraisable
    if "gevent.hub" in sys.modules:  # a part without greenlets goes without it
        # gevent has a hub per thread; it calls this for each error but GreenletExit and SystemExit
        sys.modules["gevent.hub"].Hub.print_exception = _end_of_greenlet


def _end_of_process(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
    else:
        _log("process", None, error)


def _end_of_thread(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_type is not SystemExit:
        _log(f"thread {ended.thread.name}" if ended.thread else "thread", None, ended.exc_value)


def _unraisable(ignored: Any) -> None:
    """An error where Python can raise none, as while it frees an object."""
    _log(ignored.err_msg or "Exception ignored in", ignored.object, ignored.exc_value)


def _end_of_greenlet(_hub: Any, context: object, _kind: object, error: BaseException | None, _trace: object) -> None:
    # gevent's thread pool gives no error, but calls where one is handled
    _log("hub" if context is None else "greenlet", context, error or sys.exc_info()[1])


def _log(where: str, what: object, error: BaseException | None) -> None:
    """Never raises: Python would write both errors to stderr as they are."""
    try:
        import structlog  # not before `battlebot.logs`, which has it load less

        where = where if what is None else f"{where}: {what!r}"
        structlog.get_logger().error(EVENT, where=where, exc_info=error)
    except Exception:
        # as at the very end of a process, when modules are gone already. The message may hold a secret
        with suppress(Exception):
            print(f"{EVENT}: {type(error).__name__}", file=sys.__stderr__)
