"""Long work that cannot be interrupted, in a process of its own: whoever shares this one goes on meanwhile."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

import structlog

log = structlog.get_logger()

Answer = TypeVar("Answer")

MOST = 64  # answers that are remembered
NICENESS = 10  # the bots' turns go first


class Aside:
    """Has a module's function called in a new process, one at a time, and remembers the latest answers.

    The function must be pure, and its arguments have a hash. They and the answer must be small, and such that pickle
    takes them. A process takes some tenths of a second more; if there can be none, the function is called here.
    """

    def __init__(self) -> None:
        # there may be many who ask for one thing at the same moment, and few processors
        self._alone = threading.Lock()
        self._remembered: OrderedDict[Any, Any] = OrderedDict()

    def __call__(self, function: Callable[..., Answer], *arguments: Any) -> Answer:
        """Returns what the function returns. Raises what it raises."""
        asked = (function, arguments)
        if asked not in self._remembered:
            with self._alone:
                # whoever waited for its turn wants the same, as a rule
                if asked not in self._remembered:
                    self._remembered[asked] = _elsewhere(function, arguments)
        answer: Answer = self._remembered[asked]
        self._remembered.move_to_end(asked)
        if len(self._remembered) > MOST:
            self._remembered.popitem(last=False)
        return answer


def _elsewhere(function: Callable[..., Answer], arguments: tuple[Any, ...]) -> Answer:
    question = pickle.dumps((function.__module__, function.__qualname__, arguments))
    command = [sys.executable, "-P", "-m", __name__]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        done = subprocess.run(command, input=question, stdout=subprocess.PIPE, env=environment, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        log.warning("aside.failed", function=function.__qualname__, error=str(error))
        return function(*arguments)
    answer: Answer = pickle.loads(done.stdout)  # noqa: S301 - our own process made it
    return answer


def _answer() -> None:
    os.nice(NICENESS)
    module, name, arguments = pickle.load(sys.stdin.buffer)  # noqa: S301 - our own process made it
    pickle.dump(getattr(import_module(module), name)(*arguments), sys.stdout.buffer)


if __name__ == "__main__":
    _answer()
