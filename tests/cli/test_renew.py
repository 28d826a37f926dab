"""`battlebot renew`, over a MongoDB that is named."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from battlebot.config import Settings
from battlebot.storage import Storage
from battlebot.storage.vault import Vault

Run = Callable[..., subprocess.CompletedProcess[str]]
KEY = "a key of this test that is long enough"


def test_the_operator_gives_a_bot_another_pass_hash(
    battlebot: Run, settings: Settings, storage: Storage, tmp_path: Path
) -> None:
    """It is printed alone; by the key of the environment, else by that of the data folder."""
    storage.bots.register("numberwang", "ada", "me", Vault(KEY).seal("0" * 64), "ada")
    where = {"MONGODB_URI": settings.mongodb_uri, "BATTLEBOT_DATA": str(tmp_path)}
    missing = battlebot("renew", "ada", **where)
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "secret key" in missing.stderr
    (tmp_path / "secret_key").write_text(KEY + "\n")
    for more in ({"SECRET_KEY": KEY}, {}):
        made = battlebot("renew", "ada", **where, **more)
        assert (made.returncode, made.stderr) == (0, "")
        assert re.fullmatch(r"[0-9a-f]{64}\n", made.stdout)
        found = storage.bots.find("ada")
        assert found is not None
        assert Vault(KEY).open(found["sealed_pass_hash"]) == made.stdout.strip()


def test_what_cannot_be_renewed_is_told_in_one_line(battlebot: Run, settings: Settings, storage: Storage) -> None:
    """Nothing is changed by another key: no node could open what it seals."""
    sealed = Vault(KEY).seal("0" * 64)
    storage.bots.register("numberwang", "ada", "me", sealed, "ada")
    where = {"MONGODB_URI": settings.mongodb_uri}
    for bot, key, sentence in (
        ("bob", KEY, "There is no bot 'bob'."),
        ("ada", KEY + "!", "SECRET_KEY does not open the stored credentials; was it changed?"),
    ):
        finished = battlebot("renew", bot, SECRET_KEY=key, **where)
        assert (finished.returncode, finished.stdout, finished.stderr) == (2, "", f"battlebot: {sentence}\n")
    found = storage.bots.find("ada")
    assert found is not None
    assert found["sealed_pass_hash"] == sealed


def test_a_folder_in_which_nothing_was_kept_is_told_from_one_without_its_key(battlebot: Run, tmp_path: Path) -> None:
    """As by every other command; nothing is made there."""
    finished = battlebot("renew", "ada", "--data", str(tmp_path / "elsewhere"))
    assert (finished.returncode, finished.stdout) == (2, "")
    assert "No Battlebot has kept anything in" in finished.stderr
    assert not (tmp_path / "elsewhere").exists()
