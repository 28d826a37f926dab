"""Runs the command as a user does."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cluster import Cluster, Web

from battlebot.config import Settings, as_environment
from battlebot.storage import Storage

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def battlebot(tmp_path: Path) -> Run:
    """Returns a function: arguments and environment -> the completed process. It runs in an empty folder."""
    names = set(as_environment(Settings()))

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        inherited = {name: value for name, value in os.environ.items() if name not in names}
        return subprocess.run(
            [sys.executable, "-P", "-m", "battlebot", *arguments],
            cwd=tmp_path,
            env={**inherited, **environment},
            capture_output=True,
            text=True,
            timeout=30,
        )

    return run


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
