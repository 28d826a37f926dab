"""How the supervising process handles signals: the first ends it gracefully, the second at once."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from battlebot.embedded.process import kill_all

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_EXIT_INTERRUPTED = 130
_LOOK_S = 1.0  # how often it is seen whether the terminal needs watching still
ECHO_S = 1.0  # a SIGTERM that follows another one sooner is the same one


def hang_up_is_ignored() -> bool:
    """Whether this process was started so that it outlives its terminal; ask before anybody sets a handler."""
    return signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def has_terminal() -> bool:
    """Whether this process was started in a terminal, wherever its output goes."""
    try:
        os.close(_terminal())
    except OSError:
        return False
    return True


def _terminal() -> int:
    return os.open(os.ctermid(), os.O_RDONLY | os.O_NOCTTY)


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """End the context without an error at the first SIGINT, SIGTERM or SIGHUP, by a KeyboardInterrupt.

    The next signal, but another SIGHUP or a SIGTERM that says the same again, kills all children and exits with status
    130. A SIGHUP that is ignored already, as under `nohup`, stays so. Use it in the main thread only.
    """
    seen, told_s = 0, -ECHO_S

    def interrupt(number: int, _frame: FrameType | None) -> None:
        nonlocal seen, told_s
        # a terminal that closes says so twice: by its shell, and as the shell ends
        if seen and number == signal.SIGHUP:
            return
        # make passes on a SIGTERM that its whole group has got: by systemd, a shell's `kill %1`, or `timeout`
        if number == signal.SIGTERM:
            if time.monotonic() - told_s < ECHO_S:
                return
            told_s = time.monotonic()
        seen += 1
        if seen == 1:
            raise KeyboardInterrupt
        kill_all()
        os._exit(_EXIT_INTERRUPTED)

    ended = threading.Event()
    handled = [number for number in _SIGNALS if number != signal.SIGHUP or not hang_up_is_ignored()]
    before = {number: signal.signal(number, interrupt) for number in handled}
    if signal.SIGHUP in handled:
        with suppress(OSError):  # it has no terminal
            terminal = _terminal()
            # now: it may close before the thread has begun
            watch = (terminal, _is_in_front(terminal, False), ended)
            threading.Thread(target=_pass_on_hang_up, args=watch, daemon=True).start()
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        ended.set()
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_in_front(terminal: int, otherwise: bool) -> bool:
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:  # it closes just now
        return otherwise


def _pass_on_hang_up(terminal: int, in_front: bool, ended: threading.Event) -> None:
    """Send this process a SIGHUP when its terminal closes while it is in the foreground there, until `ended`.

    The system tells only who leads the session, and the foreground when that has ended. A shell ends; make, as in
    `ssh -t HOST make run`, waits for us. What a shell has in the background is its own affair: it may have disowned it.
    """
    closes = select.poll()
    closes.register(terminal, 0)
    while not ended.is_set():
        in_front = _is_in_front(terminal, in_front)
        if closes.poll(1000 * _LOOK_S):
            if in_front:
                os.kill(os.getpid(), signal.SIGHUP)
            break
    os.close(terminal)
