"""Runs the command as a user does."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cluster import LIMIT_S, Cluster, Web
from zygote import run

from battlebot.config import Settings, as_environment
from battlebot.storage import Storage

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def battlebot(tmp_path: Path) -> Run:
    """Returns a function: arguments and environment -> the completed process. It runs in an empty folder.

    It is forked, unless Python itself is to see that environment.
    """
    names = set(as_environment(Settings()))

    def run_it(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        inherited = {name: value for name, value in os.environ.items() if name not in names}
        all_of_it = {**inherited, **environment}
        if not any(name.startswith(("PYTHON", "LANG", "LC_")) for name in environment):
            return run(arguments, all_of_it, tmp_path)
        command = [sys.executable, "-P", "-m", "battlebot", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=all_of_it, capture_output=True, text=True, timeout=LIMIT_S)

    return run_it


@pytest.fixture(scope="module")
def token(house: tuple[Cluster, Web]) -> str:
    """Returns an organiser's token."""
    storage = Storage(house[0].settings)
    made = storage.tokens.create("the organiser")
    storage.close()
    return made


@pytest.fixture
def contest(battlebot: Run, house: tuple[Cluster, Web], token: str, tmp_path: Path) -> Run:
    """Returns a function: the words after `battlebot contest` -> the completed process, with an organiser's token."""

    def run_command(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        mine = {"BATTLEBOT_TOKEN": token, "HOME": str(tmp_path), **environment}
        return battlebot("contest", *words, "--server", house[1].url, **mine)

    return run_command
