"""Long work that cannot be interrupted, in a process of its own: whoever shares this one goes on meanwhile."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from typing import ParamSpec, TypeVar

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")

NICENESS = 10  # the bots' turns go first

# there may be many who ask for one thing at the same moment, and few processors
alone = threading.Lock()


def aside(function: Callable[Asked, Answer], *arguments: Asked.args, **more: Asked.kwargs) -> Answer:
    """Calls a module's function in a new process, which takes some tenths of a second more; returns what it returns.

    Arguments and answer must be small, and such that pickle takes them. Raises CalledProcessError if the function
    raises, or the process is killed.
    """
    question = pickle.dumps((function.__module__, function.__name__, arguments, more))
    command = [sys.executable, "-P", "-m", "battlebot.runtime.aside"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, input=question, stdout=subprocess.PIPE, env=environment, check=True)
    answer: Answer = pickle.loads(done.stdout)  # noqa: S301 - our own process made it
    return answer


def _answer() -> None:
    os.nice(NICENESS)
    module, name, arguments, more = pickle.load(sys.stdin.buffer)  # noqa: S301 - our own process made it
    pickle.dump(getattr(import_module(module), name)(*arguments, **more), sys.stdout.buffer)


if __name__ == "__main__":
    _answer()
