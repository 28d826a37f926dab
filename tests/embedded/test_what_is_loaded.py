"""What a part of a server loads and reads at its start: nothing that only its libraries know, and nothing twice."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence

import pytest

from battlebot.config import Settings
from battlebot.embedded.commands import BOTS, environment, worker_command

WEB = """
from gevent import monkey
monkey.patch_all()
import battlebot.embedded.gunicorn_conf, wsgi
wsgi.application
"""
TCP = """
from gevent import monkey
monkey.patch_all()
from battlebot.config import load_settings
from battlebot.cli import tcp_node
tcp_node.make_door(load_settings())
"""
BEAT = """
from battlebot.embedded.runmodule import run_module
from celery.beat import Service
Service.start = lambda service: service.scheduler
sys.argv = ["part", "wsgi", "beat", "--schedule=/dev/null"]
run_module("battlebot.embedded.celery_part")
"""
WORKER = """
import contextlib
from battlebot.embedded.runmodule import run_module
from celery.apps.worker import Worker
Worker.start = lambda worker: print(worker.app.tasks["tasks.bots.ask"])
sys.argv = ["part", "wsgi", "worker", "--name=worker", "--pool=prefork", "--concurrency=1"]
with contextlib.suppress(SystemExit):
    run_module("battlebot.embedded.celery_part")
"""
FOR_CLIENTS = ["requests", "valkey", "websocket"]
FOR_WORKERS = ["celery.worker.consumer", "openskill", "pymongo", "rustworkx"]
FOR_GREENLETS = ["cryptography.hazmat.primitives.kdf.hkdf", "gevent", "httptools", "nats"]


@pytest.mark.parametrize(
    ("start", "unused"),
    [
        (WEB, ["rich", "pygments", "markdown_it", "nats", *FOR_CLIENTS]),
        (TCP, ["rich", "pygments", "nats", *FOR_CLIENTS]),
        (WORKER, ["rich", "pygments", "flask", "celery.bin", *FOR_GREENLETS, *FOR_CLIENTS]),
        (BEAT, ["rich", "pygments", "flask", "celery.bin", *FOR_WORKERS, *FOR_GREENLETS, *FOR_CLIENTS]),
    ],
    ids=["web", "tcp", "worker", "beat"],
)
def test_no_part_loads_what_it_does_not_use(settings: Settings, start: str, unused: list[str]) -> None:
    """All of these are installed, as what a part does not use may be."""
    for name in unused:
        __import__(name)
    tell = f"print([name for name in {unused} if name in sys.modules], flush=True)"
    assert _last_line(f"import os, sys\n{start}\n{tell}\nos._exit(0)", environment(settings)) == "[]"


SEEN = """
import os, sys
amiss = []
class Onlooker:
    def find_spec(self, name, *_):
        if name.startswith(("games.", "pymongo.")) and "requests" in sys.modules:
            amiss.append(name)
sys.meta_path.insert(0, Onlooker())
"""


@pytest.mark.parametrize("start", [WEB, TCP], ids=["web", "tcp"])
def test_what_some_libraries_load_for_nothing_is_there_for_the_others(settings: Settings, start: str) -> None:
    """A game may use it, and pymongo asks by it whether a certificate was revoked; else it would just not ask."""
    last = "print(amiss, flush=True)\nos._exit(0)"
    assert _last_line(f"{SEEN}\n{start}\n{last}", environment(settings)) == "[]"


GREENLETS = """
import contextlib, sys
from time import sleep
from battlebot.embedded.runmodule import run_module
del sys.argv[0]
with contextlib.suppress(SystemExit):
    run_module(sys.argv[0])
import wsgi
wsgi.celery.Worker
ours = sys.modules["__main__"]
print([name for name, module in sys.modules.items() if vars(module).get("sleep") is sleep and module is not ours])
"""


def test_no_library_of_a_worker_with_greenlets_sleeps_for_all_of_them(settings: Settings) -> None:
    """kombu does between two attempts to reach Redis; the worker would be taken for one that hangs."""
    assert _last_line(GREENLETS, environment(settings), _started(settings)) == "[]"


ENTRY_POINTS = """
import contextlib, sys
from importlib import metadata
from battlebot.embedded.runmodule import run_module
read, distributions = [], metadata.distributions
metadata.distributions = lambda **context: read.append(1) or distributions(**context)
del sys.argv[0]
with contextlib.suppress(SystemExit):
    run_module(sys.argv[0])
print(len(read), len(metadata.entry_points(group="console_scripts")) > 1)
"""


def test_the_metadata_of_all_packages_are_read_once(settings: Settings) -> None:
    """Libraries look for their plugins there at every occasion; they still find them."""
    assert _last_line(ENTRY_POINTS, environment(settings), _started(settings)) == "1 True"


def _started(settings: Settings) -> list[str]:
    """What `runmodule` is given for a worker with greenlets, which then only shows its options."""
    command = worker_command(settings, queue=BOTS)
    return [*command[command.index("battlebot.embedded.runmodule") + 1 :], "--help"]


def _last_line(code: str, variables: Mapping[str, str], arguments: Sequence[str] = ()) -> str:
    command = [sys.executable, "-c", code, *arguments]
    told = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    return told.stdout.splitlines()[-1]
