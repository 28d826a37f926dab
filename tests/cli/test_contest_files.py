"""An export's file is there whole or not at all; what is no file is written to as it is."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from battlebot.cli.contest_files import destination
from battlebot.errors import SettingError


def test_a_file_takes_its_name_when_it_is_whole(tmp_path: Path) -> None:
    """Until then the old one stands, and after an error still."""
    path = tmp_path / "cup.csv"
    path.write_text("old")
    with destination(path) as stream:
        stream.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    with suppress(KeyboardInterrupt), destination(path) as stream:
        stream.write(b"half")
        raise KeyboardInterrupt
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """What it leads to is replaced."""
    (tmp_path / "there").mkdir()
    (tmp_path / "here").symlink_to(tmp_path / "there" / "cup.csv")
    with destination(tmp_path / "here") as stream:
        stream.write(b"new")
    assert (tmp_path / "here").is_symlink()
    assert (tmp_path / "there" / "cup.csv").read_bytes() == b"new"


def test_a_device_is_not_replaced() -> None:
    """/dev/null would become a file, for whoever may."""
    with destination(Path("/dev/null")) as stream:
        stream.write(b"new")
    assert Path("/dev/null").is_char_device()


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """By the name that was given."""
    with (
        pytest.raises(SettingError, match=r"cup\.csv cannot be written: No such file"),
        destination(tmp_path / "none" / "cup.csv"),
    ):
        pass


@pytest.mark.parametrize(
    ("name", "why"),
    [("file/cup.csv", "Not a directory"), ("x" * 300, "File name too long"), ("loop", "Too many levels")],
)
def test_a_path_that_can_be_no_file_is_told(name: str, why: str, tmp_path: Path) -> None:
    """And nothing is left there."""
    (tmp_path / "file").write_text("here")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(SettingError, match=f"cannot be written: {why}"), destination(tmp_path / name):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {"file", "loop"}


def test_a_reader_that_has_had_enough_is_no_error() -> None:
    """`battlebot contest export ... | head` says nothing."""
    code = (
        "from battlebot.cli.contest_files import destination\n"
        "with destination(None) as stream:\n"
        "    for _ in range(100_000): stream.write(b'x' * 100)\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert writer.stdout is not None
    writer.stdout.read(10)
    writer.stdout.close()
    assert writer.stderr is not None
    assert (writer.stderr.read(), writer.wait(10)) == (b"", 0)
    writer.stderr.close()
