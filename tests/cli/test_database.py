"""Commands that work on the database find it: named, of a running server, or of one that is stopped."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from battlebot.cli.database import open_storage, running_stores
from battlebot.config import Settings
from battlebot.embedded.folder import DataFolder
from battlebot.embedded.mongod import mongod_socket
from battlebot.embedded.stores import Stores, embedded_stores
from battlebot.embedded.valkey import valkey_socket
from battlebot.errors import EmbeddedError
from battlebot.storage import Storage


def names(storage: Storage) -> list[str]:
    """The contests of numberwang."""
    return [contest.name for contest in storage.contests.of_game("numberwang")]


def test_a_named_mongodb_is_used(settings: Settings, storage: Storage, tmp_path: Path) -> None:
    """The data folder does not matter then."""
    storage.contests.open("numberwang", "cup", 5)
    with open_storage(replace(settings, data=tmp_path / "none")) as found:
        assert names(found) == ["cup"]
    assert not (tmp_path / "none").exists()


def test_a_running_servers_mongod_is_found_by_its_data_folder(settings: Settings, storage: Storage) -> None:
    """Without disturbing it."""
    storage.contests.open("numberwang", "cup", 5)
    for _ in range(2):
        with open_storage(replace(settings, mongodb_uri="", redis_url="")) as found:
            assert names(found) == ["cup"]
    assert names(storage) == ["cup"]


def test_a_stopped_servers_data_are_served_meanwhile(tmp_path: Path) -> None:
    """And let go of: the server can be started again."""
    settings = Settings(data=tmp_path / "data")
    with embedded_stores(settings) as running:
        storage = Storage(running)
        storage.contests.open("numberwang", "cup", 5)
        storage.close()
    with open_storage(settings) as found:
        assert names(found) == ["cup"]
        with pytest.raises(EmbeddedError, match="Another Battlebot"), embedded_stores(settings):
            pass
    with open_storage(settings) as found:
        assert names(found) == ["cup"]


def test_a_folder_without_data_is_told_and_not_made(tmp_path: Path) -> None:
    """An empty database would agree with everything."""
    with (
        pytest.raises(EmbeddedError, match=r"No Battlebot has kept anything in .*none"),
        open_storage(Settings(data=tmp_path / "none")),
    ):
        pass
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("runs", [True, False])
def test_a_folder_of_a_server_with_stores_elsewhere_is_no_database(runs: bool, tmp_path: Path) -> None:
    """It holds empty folders for the stores; a mongod started there would agree with everything."""
    settings = Settings(data=tmp_path / "data")
    folder = DataFolder(settings.data)
    if not runs:
        folder.close()
    with pytest.raises(EmbeddedError, match="set MONGODB_URI"), open_storage(settings):
        pass
    assert not any((settings.data / "mongod").iterdir())
    if runs:
        with pytest.raises(EmbeddedError, match=r"has stores elsewhere: set REDIS_URL and MONGODB_URI\."):
            running_stores(settings)
        with pytest.raises(EmbeddedError, match=r"has stores elsewhere: set MONGODB_URI\."):
            running_stores(replace(settings, redis_url="redis://elsewhere"))
        folder.close()


def test_a_running_server_whose_stores_are_elsewhere_now_is_not_to_be_stopped(tmp_path: Path) -> None:
    """The folder holds what its own kept before the addresses were set."""
    folder = DataFolder(tmp_path)
    for store in ("valkey", "mongod"):
        (tmp_path / store / "kept").touch()
    with pytest.raises(EmbeddedError, match="has no mongod of its own now: set MONGODB_URI"):
        open_storage(Settings(data=tmp_path)).__enter__()
    for own, lacking in ((mongod_socket(folder.sockets), "REDIS_URL"), (valkey_socket(folder.sockets), "MONGODB_URI")):
        own.touch()
        with pytest.raises(EmbeddedError, match=rf"has stores elsewhere: set {lacking}\."):
            running_stores(Settings(data=tmp_path))
        own.unlink()
    folder.close()


@pytest.mark.parametrize("start", [lambda settings: open_storage(settings).__enter__(), Stores])
def test_a_stopped_server_of_another_user_is_left_alone(
    start: Callable[[Settings], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root's stores, for a command or a server, would leave files there that the other's cannot read."""
    DataFolder(tmp_path).close()
    (tmp_path / "mongod" / "WiredTiger").touch()
    if os.geteuid() == 0:
        os.chown(tmp_path / "mongod", 1, -1)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(EmbeddedError, match="belong to another user"):
        start(Settings(data=tmp_path))
    assert [path.name for path in (tmp_path / "mongod").iterdir()] == ["WiredTiger"]
    assert not (tmp_path / "secret_key").exists()
    # nor is anything made that is missing, as after a backup is restored
    for path in (tmp_path / "lock", tmp_path / "logs"):
        path.unlink() if path.is_file() else path.rmdir()
    with pytest.raises(EmbeddedError, match="belong to another user"):
        start(Settings(data=tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {"mongod", "valkey"}


def test_a_folder_that_cannot_be_written_is_told_not_taken_for_a_running_servers(tmp_path: Path) -> None:
    """Its lock still names the sockets of the server that was stopped."""
    DataFolder(tmp_path).close()
    for store in ("valkey", "mongod"):
        (tmp_path / store / "kept").touch()
    (tmp_path / "logs").rmdir()
    (tmp_path / "logs").touch()
    for look in (running_stores, lambda settings: open_storage(settings).__enter__()):
        with pytest.raises(EmbeddedError, match="cannot be written"):
            look(Settings(data=tmp_path))


def test_sockets_that_cannot_be_seen_are_told(tmp_path: Path) -> None:
    """As those of a service with a private /tmp."""
    folder = DataFolder(tmp_path)
    for store in ("valkey", "mongod"):
        (tmp_path / store / "kept").touch()
    folder.sockets.rmdir()
    for look in (running_stores, lambda settings: open_storage(settings).__enter__()):
        with pytest.raises(EmbeddedError, match="which cannot be seen from here"):
            look(Settings(data=tmp_path))
    folder.close()
