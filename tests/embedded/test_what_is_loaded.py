"""What a part of a server loads at its start: nothing that only its libraries know."""

from __future__ import annotations

import subprocess
import sys

import pytest

WEB = "import battlebot.embedded.gunicorn_conf, wsgi, app"
CELERY = """
import contextlib
from battlebot.embedded.runmodule import run_module
sys.argv = ["celery", "--version"]
with contextlib.suppress(SystemExit):
    run_module("celery")
import wsgi, battlebot.logs, tasks.celeryapp, battlebot.embedded.celery_hooks
"""


@pytest.mark.parametrize(
    ("start", "unused"),
    [
        (WEB, ["rich", "pygments"]),
        (CELERY, ["rich", "prompt_toolkit", "flask"]),
    ],
)
def test_no_part_loads_what_it_does_not_use(start: str, unused: list[str]) -> None:
    """All of these are installed, as what a part does not use may be."""
    for name in unused:
        __import__(name)
    code = f"import sys\n{start}\nprint([name for name in {unused} if name in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[-1] == "[]"


GREENLETS = """
import contextlib, sys
from time import sleep
from battlebot.embedded.runmodule import run_module
sys.argv = ["celery", "worker", "--pool=gevent", "--help"]
with contextlib.suppress(SystemExit):
    run_module("celery")
import kombu.utils.functional
print([name for name, module in sys.modules.items() if vars(module).get("sleep") is sleep and name != "__main__"])
"""


def test_no_library_of_a_worker_with_greenlets_sleeps_for_all_of_them() -> None:
    """kombu does between two attempts to reach Redis; the worker would be taken for one that hangs."""
    told = subprocess.run([sys.executable, "-c", GREENLETS], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[-1] == "[]"
