"""The bots of the demo, as it starts them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from battlebot.cli.contest import Onlooker
from battlebot.cli.demo import _BOTS, _program


@pytest.mark.parametrize("sample", sorted(set(_BOTS.values())))
def test_a_bot_starts_in_a_folder_of_python_files(sample: str, tmp_path: Path) -> None:
    """Its owner's `random.py` is not taken for Python's."""
    for name in ("json", "random", "socket", "websocket"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('taken for another')")
    program = _program("bot", sample, Onlooker("http://127.0.0.1:1", "noughtsandcrosses", "cup"), tmp_path)
    command = [*program.command, "--help"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (0, "")
