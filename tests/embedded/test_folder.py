"""The data folder: private, locked, with a key that stays and sockets that fit."""

import os
import stat
import tempfile
from pathlib import Path

import pytest

from battlebot.cli.database import running_stores
from battlebot.config import Settings
from battlebot.embedded.folder import DataFolder
from battlebot.embedded.mongod import mongod_socket, mongod_uri
from battlebot.embedded.valkey import valkey_socket, valkey_url
from battlebot.errors import EmbeddedError


def mode(path: Path) -> int:
    """The permission bits."""
    return stat.S_IMODE(path.stat().st_mode)


def test_the_folder_and_what_is_in_it_are_its_owners_alone(tmp_path: Path) -> None:
    """Nobody else on the machine may read a bot's secrets."""
    folder = DataFolder(tmp_path / "data")
    folder.secret_key()
    within = {name: mode(folder.path / name) for name in ("valkey", "mongod", "logs", "secret_key")}
    modes = (mode(folder.path), mode(folder.sockets))
    folder.close()
    assert within == {"valkey": 0o700, "mongod": 0o700, "logs": 0o700, "secret_key": 0o600}
    assert modes == (0o700, 0o700)


def test_the_secret_key_is_made_once_and_kept(tmp_path: Path) -> None:
    """With another key, no bot could log in any more."""
    keys = []
    for _ in range(2):
        folder = DataFolder(tmp_path / "data")
        keys.append(folder.secret_key())
        folder.close()
    assert keys[0] == keys[1]
    assert len(keys[0]) == 64


@pytest.mark.parametrize(
    ("key", "told"),
    [
        (b"", "is empty: restore it"),
        (b"\xff\xfe\x80", "is not text: restore it"),
        (b"5f0e", "is damaged: restore it"),
        (bytes(16), "is damaged: restore it"),
    ],
)
def test_a_key_that_is_none_is_refused_and_not_replaced(tmp_path: Path, key: bytes, told: str) -> None:
    """What it encrypted would be lost for good."""
    folder = DataFolder(tmp_path / "data")
    (folder.path / "secret_key").write_bytes(key)
    with pytest.raises(EmbeddedError, match=told):
        folder.secret_key()
    folder.close()


def test_a_key_that_is_missing_is_not_replaced_once_bots_are_kept(tmp_path: Path) -> None:
    """By a new one none of them could log in, and their names would be taken for good."""
    folder = DataFolder(tmp_path / "data")
    (folder.path / "mongod" / "WiredTiger").touch()
    with pytest.raises(EmbeddedError, match=r"secret_key is missing, .*: restore it, or set SECRET_KEY"):
        folder.secret_key()
    assert not (folder.path / "secret_key").exists()
    folder.close()


def test_a_second_server_on_the_folder_gets_one_clear_line(tmp_path: Path) -> None:
    """It names the process that is first, and what to do."""
    folder = DataFolder(tmp_path / "data")
    with pytest.raises(EmbeddedError, match=rf"\(process {os.getpid()}\) uses the data folder .* --data"):
        DataFolder(tmp_path / "data")
    folder.close()
    DataFolder(tmp_path / "data").close()


@pytest.mark.parametrize("place", ["file", "file/data", "/proc/battlebot"])
def test_a_folder_that_cannot_be_written_is_one_clear_line(place: str, tmp_path: Path) -> None:
    """A file in its place, a file above it, a file system that takes nothing."""
    (tmp_path / "file").touch()
    with pytest.raises(EmbeddedError, match=r"cannot be written: .* Choose another") as caught:
        DataFolder(tmp_path / place)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("temporary", [None, "/tmp/a-folder-of-a-user/" + "of-a-job/" * 9])
def test_sockets_fit_however_deep_the_folder_is(
    tmp_path: Path, temporary: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A socket's path may have 104 bytes, and a folder's 4,096: that of temporary files, too."""
    monkeypatch.setattr(tempfile, "tempdir", temporary or tempfile.gettempdir())
    folder = DataFolder(tmp_path.joinpath(*["a-rather-long-name"] * 12))
    length = len(os.fsencode(folder.sockets / "mongod.sock"))
    folder.close()
    assert length <= 100


@pytest.mark.parametrize("temporary", [".", "jobs:7", "a,b", "why?", "job#7", "[7]", "%41"])
def test_sockets_can_be_addressed_whatever_tmpdir_is(
    tmp_path: Path, temporary: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stores leave our working directory; in an address of theirs some characters are none of a path's."""
    # `tmp_path` would be too long for sockets anyway
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        (Path(short) / temporary).mkdir(exist_ok=True)
        monkeypatch.chdir(short)
        monkeypatch.setattr(tempfile, "tempdir", temporary if temporary == "." else f"{short}/{temporary}")
        folder = DataFolder(tmp_path / "data")
        folder.close()
    assert folder.sockets.is_absolute()
    assert set(str(folder.sockets)).isdisjoint(":,?#[%")


def test_the_sockets_place_is_the_same_at_each_start_and_gone_between(tmp_path: Path) -> None:
    """A killed server's is used again, an ended one's is removed."""
    first = DataFolder(tmp_path / "data")
    (first.sockets / "left-behind").touch()
    os.close(first._lock)  # as a SIGKILL does
    second = DataFolder(tmp_path / "data")
    second.close()
    assert second.sockets == first.sockets
    assert not second.sockets.exists()


def test_the_sockets_of_a_running_server_are_found_from_a_shell_with_another_tmpdir(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or of another user, such as root: its commands are for that server. One that begins has noted none yet."""
    folder = DataFolder(tmp_path / "data")
    (folder.path / "valkey" / "kept").touch()
    for own in (valkey_socket(folder.sockets), mongod_socket(folder.sockets)):
        own.touch()
    monkeypatch.setattr(tempfile, "tempdir", "/tmp/elsewhere")
    found = running_stores(Settings(data=folder.path))
    assert found.redis_url == valkey_url(folder.sockets)
    assert found.mongodb_uri == mongod_uri(folder.sockets)
    (folder.path / "lock").write_text(f"{os.getpid()}\n")
    with pytest.raises(EmbeddedError, match="uses the data folder"):
        running_stores(Settings(data=folder.path))
    folder.close()


def test_a_place_that_others_may_enter_is_not_used(tmp_path: Path) -> None:
    """Whoever made it before us could take the sockets away."""
    first = DataFolder(tmp_path / "data")
    first.close()
    first.sockets.mkdir()
    first.sockets.chmod(0o777)
    second = DataFolder(tmp_path / "data")
    assert second.sockets != first.sockets
    assert mode(second.sockets) == 0o700
    second.close()
    first.sockets.rmdir()
