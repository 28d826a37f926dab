"""`python -P -m battlebot.embedded.runmodule NAME ...` is `python -m NAME ...`, whatever the working directory holds.

Python, gunicorn and Celery each put the working directory first on the module path: an `app.py` that is there would be
imported in place of ours. `-P` keeps Python from it; the other two leave alone what is on the path, so it is put there,
last.
"""

from __future__ import annotations

import runpy
import sys
from importlib import metadata
from pathlib import Path

from battlebot.embedded.collector import expect_code


def run_module(name: str) -> None:
    """Run the module `name` as the main program. Of modules of one name the installed ones come first, then ours."""
    # Ours by their folder: the finder of an editable installation would come after the whole path
    sys.path += [str(Path(__file__).parents[2]), str(Path.cwd())]
    _read_entry_points_once()
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _read_entry_points_once() -> None:
    """Let the metadata of the installed packages be read once. gevent asks for its plugins at each of 40 patches."""
    metadata.entry_points = metadata.entry_points().select


if __name__ == "__main__":
    expect_code()
    del sys.argv[0]
    run_module(sys.argv[0])
