"""Modules of other programs with the names of ours, on PYTHONPATH."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from battlebot.cli.gamescheck import check_modules
from battlebot.errors import EmbeddedError
from tests.cluster import free_port

Run = Callable[..., subprocess.CompletedProcess[str]]

PARTS = {"REDIS_URL": "redis://127.0.0.1:1", "MONGODB_URI": "mongodb://127.0.0.1:1", "SECRET_KEY": "k" * 32}


@pytest.mark.parametrize(
    ("command", "name"),
    [("serve", "app"), ("demo", "tasks"), ("web", "wsgi"), ("tcp", "app"), ("worker", "tasks"), ("beat", "wsgi")],
)
def test_a_module_that_hides_ours_is_one_clear_line(command: str, name: str, battlebot: Run, tmp_path: Path) -> None:
    """Each part would load it, die of it, and be started again; the line of the last said nothing of PYTHONPATH."""
    others = tmp_path / "others"
    others.mkdir()
    (others / f"{name}.py").write_text("")
    ports = {"BATTLEBOT_PORT": str(free_port()), "BATTLEBOT_TCP_PORT": str(free_port()), "BATTLEBOT_NATS_PORT": "0"}
    parts = {} if command in ("serve", "demo") else PARTS
    ended = battlebot(command, PYTHONPATH=str(others), BATTLEBOT_DATA=str(tmp_path / "data"), **ports, **parts)
    hides = f"battlebot: {others / name}.py hides the server's own {name}: take {others} out of PYTHONPATH.\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", hides)
    assert not (tmp_path / "data").exists()


def test_an_empty_entry_is_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part would load what lies there; nothing at all on PYTHONPATH hides nothing."""
    (tmp_path / "app.py").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "")
    check_modules()
    monkeypatch.setenv("PYTHONPATH", ":/nowhere")
    with pytest.raises(EmbeddedError, match=r"app\.py hides .* take the empty entry \(the working directory\) out of"):
        check_modules()


def test_our_own_folder_on_the_path_hides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `make chaos` has it."""
    monkeypatch.setenv("PYTHONPATH", f":{Path(__file__).parents[2]}:/nowhere")
    check_modules()
