"""Packages that are hidden from an import, and those that the parts of a server do without."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys

import pytest

from battlebot.runtime.bare import without


def test_a_package_is_hidden_for_as_long_as_that_lasts() -> None:
    """Also if the import fails; what is loaded already is not touched."""
    with pytest.raises(ImportError), without("wave", "json"):
        importlib.import_module("wave")
    assert importlib.import_module("wave").open
    with without("json"):
        assert importlib.import_module("json") is json
    assert sys.modules["json"] is json


@pytest.mark.parametrize(
    ("part", "unused"),
    [
        ("battlebot.embedded.gunicorn_conf, wsgi, app", ("rich", "pygments", "requests", "websocket", "valkey")),
        ("battlebot.cli.tcp_node, app", ("requests", "websocket", "valkey")),
        ("wsgi, tasks.celeryapp, battlebot.embedded.celery_hooks", ("rich", "pygments")),
    ],
)
def test_no_part_loads_what_it_does_not_use(part: str, unused: tuple[str, ...]) -> None:
    """They are installed here, and the libraries that would load them are the only ones that know them."""
    code = f"import sys, {part}; print([name for name in {unused!r} if name in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
