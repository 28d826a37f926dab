"""Helpers for the tests of `battlebot contest`: what commands printed, and bots that play meanwhile."""

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
    """Returns what a successful command printed."""
    assert (finished.returncode, finished.stderr) == (0, ""), finished
    return finished.stdout.strip()


def complaint(finished: subprocess.CompletedProcess[str], status: int) -> str:
    """Returns the one line on stderr of a command that ended with that status."""
    assert (finished.returncode, finished.stdout) == (status, ""), finished
    (line,) = finished.stderr.splitlines()
    return line.removeprefix("battlebot: ")


def new_bots(web: Web, count: int) -> list[Credentials]:
    """Registers new bots and returns them."""
    return [register(web.url, GAME, f"entrant {next(numbers)}") for _ in range(count)]


@contextmanager
def playing(web: Web, bots: list[Credentials], contest: str, matches: int) -> Iterator[None]:
    """Lets each of the bots play so many matches of the contest within the `with` block."""
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
