"""`battlebot export` as an operator uses it: the file of a stored match, or a line that says why there is none."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from histories import from_gcg, from_protobuf
from records import played, won

from battlebot.config import Settings
from battlebot.referee.events import Turned
from battlebot.storage import Storage

Export = Callable[..., subprocess.CompletedProcess[str]]
MATCH = "65a1b2c3d4e5f60718293a4b"


@pytest.fixture
def export(battlebot: Callable[..., subprocess.CompletedProcess[str]], settings: Settings, storage: Storage) -> Export:
    """A function: the words after `battlebot export` -> the completed process; a match of crossword is stored."""
    passes = [Turned("ab"[n % 2], {"type": "PASS"}, 0.25) for n in range(6)]
    storage.archive.store([played(passes, "crossword", match_id=MATCH)])
    return lambda *words: battlebot("export", *words, MONGODB_URI=settings.mongodb_uri)


def test_a_match_goes_to_stdout_or_into_a_file(export: Export, tmp_path: Path) -> None:
    """The same match in each format."""
    gcg = export(MATCH, "--format", "gcg")
    assert (gcg.returncode, gcg.stderr) == (0, "")
    read = from_gcg(gcg.stdout)
    assert (read["uid"], len(read["events"])) == (MATCH, 8)
    done = export(MATCH, "--format", "pb", "--output", str(tmp_path / "match.pb"))
    assert (done.returncode, done.stdout) == (0, "")
    assert from_protobuf((tmp_path / "match.pb").read_bytes())["final_scores"] == read["final_scores"]


def test_what_cannot_be_exported_is_said_in_a_line(export: Export, storage: Storage) -> None:
    """Status 2: an unknown match, an unknown format, a game without formats."""
    other = "0" * 24
    storage.archive.store([won(match_id="1" * 24)])
    for words, why in (
        ((other, "--format", "gcg"), "no finished match"),
        ((MATCH, "--format", "pdf"), "gcg, json, pb"),
        (("1" * 24, "--format", "gcg"), "none but JSON"),
    ):
        done = export(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert why in done.stderr
        assert len(done.stderr.splitlines()) == 1
