"""Long work that cannot be interrupted, in a process of its own: whoever shares this one goes on meanwhile."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

import structlog

from battlebot.errors import Unavailable

log = structlog.get_logger()

Answer = TypeVar("Answer")

MOST = 64  # answers that are remembered
LONGEST_S = 60
NICENESS = 10  # the bots' turns go first


class Elsewhere:
    """Has a module's function called in a new process, one at a time, and remembers the latest answers.

    The function must be pure, and its arguments have a hash. They and the answer must be small, and such that pickle
    takes them. A process takes some tenths of a second more; if there can be none, or it fails, the function is called
    here.
    """

    def __init__(self) -> None:
        # there may be many who ask for one thing at the same moment, and few processors
        self._alone = threading.Lock()
        self._remembered: OrderedDict[Any, Any] = OrderedDict()

    def __call__(self, function: Callable[..., Answer], *arguments: Any) -> Answer:
        """Returns what the function returns.

        Raises what it raises; Unavailable if its process is killed, or takes over `LONGEST_S`.
        """
        asked = (function, arguments)
        if asked not in self._remembered:
            with self._alone:
                # whoever waited for its turn wants the same, as a rule
                if asked not in self._remembered:
                    self._remembered[asked] = _in_new_process(function, arguments)
        answer: Answer = self._remembered[asked]
        self._remembered.move_to_end(asked)
        if len(self._remembered) > MOST:
            self._remembered.popitem(last=False)
        return answer


def _in_new_process(function: Callable[..., Answer], arguments: tuple[Any, ...]) -> Answer:
    question = pickle.dumps((function.__module__, function.__qualname__, arguments))
    command = [sys.executable, "-P", "-m", __name__]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        done = subprocess.run(command, input=question, stdout=subprocess.PIPE, env=environment, check=True)
        answer: Answer = pickle.loads(done.stdout)  # noqa: S301 - our own process made it
    except (OSError, subprocess.CalledProcessError, EOFError, pickle.UnpicklingError) as error:
        log.warning("aside.failed", function=function.__qualname__, error=str(error))
        if isinstance(error, subprocess.CalledProcessError) and error.returncode < 0:
            # by a system that is short of memory: all the more must this process not do it
            raise Unavailable("The process that worked this out was killed. Try again.") from error
        return function(*arguments)
    return answer


def _answer() -> None:
    os.nice(NICENESS)
    # who asked may still wait for it when its service is stopped; and it must end though it should hang
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.alarm(LONGEST_S)
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
        # what a module prints is no part of the answer
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        module, name, arguments = pickle.load(sys.stdin.buffer)  # noqa: S301 - our own process made it
        pickle.dump(getattr(import_module(module), name)(*arguments), output)


if __name__ == "__main__":
    _answer()
