"""What the tests of `battlebot contest` share: what commands said, and bots that play meanwhile."""

from __future__ import annotations

import itertools
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from cluster import LIMIT_S, Web

from battlebot.client import Credentials, register, run
from battlebot.client.samples.first_free import FirstFree

Run = Callable[..., subprocess.CompletedProcess[str]]
GAME = "noughtsandcrosses"
numbers = itertools.count()


def said(finished: subprocess.CompletedProcess[str]) -> str:
    """What a command that did well printed."""
    assert (finished.returncode, finished.stderr) == (0, ""), finished
    return finished.stdout.strip()


def complaint(finished: subprocess.CompletedProcess[str], status: int) -> str:
    """The one line on stderr of a command that ended with that status."""
    assert (finished.returncode, finished.stdout) == (status, ""), finished
    (line,) = finished.stderr.splitlines()
    return line.removeprefix("battlebot: ")


def new_bots(web: Web, count: int) -> list[Credentials]:
    """Freshly registered bots."""
    return [register(web.url, GAME, f"entrant {next(numbers)}") for _ in range(count)]


@contextmanager
def playing(web: Web, bots: list[Credentials], contest: str, matches: int) -> Iterator[None]:
    """Each of the bots plays so many matches of the contest meanwhile."""
    options: dict[str, Any] = {"matches": matches, "idle_timeout_s": LIMIT_S}
    threads = [
        threading.Thread(target=run, args=(FirstFree, web.url, GAME, contest), kwargs={"credentials": bot, **options})
        for bot in bots
    ]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join()
