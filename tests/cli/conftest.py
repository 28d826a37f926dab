"""Runs the command as a user does."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from battlebot.config import Settings, as_environment

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def battlebot(tmp_path: Path) -> Run:
    """A function: arguments and environment -> the completed process. It runs in an empty folder."""
    names = set(as_environment(Settings()))

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        inherited = {name: value for name, value in os.environ.items() if name not in names}
        return subprocess.run(
            [sys.executable, "-m", "battlebot", *arguments],
            cwd=tmp_path,
            env={**inherited, **environment},
            capture_output=True,
            text=True,
            timeout=30,
        )

    return run
