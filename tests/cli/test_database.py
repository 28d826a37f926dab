"""Commands that work on the database find it: named, of a running server, or of one that is stopped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from battlebot.cli.database import open_storage
from battlebot.config import Settings
from battlebot.embedded.stores import embedded_stores
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
