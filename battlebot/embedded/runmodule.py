"""`python -P -m battlebot.embedded.runmodule NAME ...` is `python -m NAME ...`, whatever the working directory holds.

Python, gunicorn and Celery each put the working directory first on the module path: an `app.py` that is there would be
imported in place of ours. `-P` keeps Python from it; the other two leave alone what is on the path, so it is put there,
last.

What a part would do at its start for nothing is left out. `celery` goes without the interactive shell of its `amqp`
command, which is a fifth of what a worker or beat would load. Where it has a pool of greenlets, the standard library is
patched before Celery is loaded.
"""

from __future__ import annotations

import runpy
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

from battlebot.embedded.collector import expect_code

GREENLETS = "--pool=gevent"


def run_module(name: str) -> None:
    """Run the module `name` as the main program. Of modules of one name the installed ones come first, then ours."""
    # Ours by their folder: the finder of an editable installation would come after the whole path
    sys.path += [str(Path(__file__).parents[2]), str(Path.cwd())]
    _read_entry_points_once()
    if name == "celery":
        shell: Any = ModuleType("click_repl")
        shell.register_repl = lambda _command: None
        sys.modules[shell.__name__] = shell
        if GREENLETS in sys.argv:
            _patch()
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _read_entry_points_once() -> None:
    """Let the metadata of the installed packages be read once. gevent asks for its plugins at each of 40 patches."""
    metadata.entry_points = metadata.entry_points().select


def _patch() -> None:
    """Let gevent patch the standard library now. Celery does so later, when its own objects are there.

    Among all objects gevent looks for locks, which makes Celery's lazy ones load kombu before `time` is patched:
    without Redis, each pause of kombu's would stop all greenlets.
    """
    from gevent import monkey

    monkey.patch_all()


if __name__ == "__main__":
    expect_code()
    del sys.argv[0]
    run_module(sys.argv[0])
