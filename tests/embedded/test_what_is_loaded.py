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
