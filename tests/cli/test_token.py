"""`battlebot token`, over a MongoDB that is named and over the one of an embedded server that runs."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import pytest
from structlog.testing import capture_logs

from battlebot.cli.token import _end, keep_first_token
from battlebot.config import Settings
from battlebot.errors import EmbeddedError, Unavailable
from battlebot.storage import Storage

Run = Callable[..., subprocess.CompletedProcess[str]]
TOKEN = re.compile(r"[\w-]{43}\n", re.ASCII)
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def rows(finished: subprocess.CompletedProcess[str]) -> dict[str, list[str]]:
    """The lines of a list, by name."""
    assert finished.returncode == 0, finished.stderr
    return {name: rest for name, *rest in (line.split("\t") for line in finished.stdout.splitlines()[1:])}


def test_a_token_is_made_listed_and_revoked(battlebot: Run, settings: Settings, storage: Storage) -> None:
    """It is printed alone, so that a script can take it; the list never shows it."""
    where = {"MONGODB_URI": settings.mongodb_uri}
    made = battlebot("token", "create", "--name", "Ada", "--expires", "30d", **where)
    assert (made.returncode, made.stderr) == (0, "")
    assert TOKEN.fullmatch(made.stdout)
    assert storage.tokens.holder(made.stdout.strip()) == "Ada"
    assert battlebot("token", "create", "--name", "Bob", **where).returncode == 0
    listed = battlebot("token", "list", **where)
    assert made.stdout.strip() not in listed.stdout
    assert {name: (row[0], row[2] == "never", row[3] == "never") for name, row in rows(listed).items()} == {
        "Ada": ("valid", False, False),
        "Bob": ("valid", True, True),
    }
    assert battlebot("token", "revoke", "Ada", **where).stdout == "Ada is revoked.\n"
    assert storage.tokens.holder(made.stdout.strip()) is None
    assert rows(battlebot("token", "list", **where))["Ada"][0] == "revoked"


@pytest.mark.parametrize(
    "command", [["token", "list"], ["verify", "noughtsandcrosses"], ["ratings", "rebuild", "gomoku"]]
)
def test_a_mongodb_that_refuses_the_user_is_told_in_one_line(
    battlebot: Run, settings: Settings, storage: Storage, command: list[str]
) -> None:
    """Without the password; so it is for every command that works on the database."""
    uri = settings.mongodb_uri.replace("mongodb://", "mongodb://nobody:wr0ng@")
    finished = battlebot(*command, MONGODB_URI=uri)
    assert (finished.returncode, finished.stdout) == (2, "")
    assert finished.stderr == "battlebot: MongoDB refuses the user or the password of MONGODB_URI.\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["create", "--name", " "], "printable characters"),
        (["create", "--name", "x" * 65], "printable characters"),
        (["create", "--name", "x", "--expires", "soon"], "neither days (30d) nor a date"),
        (["create", "--name", "x", "--expires", "2020-01-01"], "has passed"),
        (["create", "--name", "x", "--expires", "9999-12-31"], "too far away"),
        (["create"], "Missing option '--name'"),
        (["revoke", "nobody"], "There is no token named 'nobody'."),
    ],
)
def test_what_cannot_be_done_is_said(
    battlebot: Run, settings: Settings, storage: Storage, arguments: list[str], sentence: str
) -> None:
    """Status 2, no traceback, no token."""
    finished = battlebot("token", *arguments, MONGODB_URI=settings.mongodb_uri)
    assert finished.returncode == 2
    assert sentence in finished.stderr
    assert "Traceback" not in finished.stderr
    assert storage.tokens.list() == []


ENDS = [
    ("30d", NOW + timedelta(days=30)),
    ("1d", NOW + timedelta(days=1)),
    ("2026-12-31", datetime(2027, 1, 1, tzinfo=UTC)),
    ("2026-11-21", datetime(2026, 11, 22, tzinfo=UTC)),
]


@pytest.mark.parametrize(("text", "end"), ENDS)
def test_a_token_ends_then(text: str, end: datetime) -> None:
    """A date is the last day on which it is good."""
    assert _end(text, NOW) == end


@pytest.mark.parametrize("text", ["0d", "-1d", "99999d9", "2026-11-20", "2026-02-30", "31.12.2026", "", "9999-12-31"])
def test_no_token_ends_then(text: str) -> None:
    """A usage error."""
    with pytest.raises(click.UsageError):
        _end(text, NOW)


def test_a_server_that_runs_is_asked_by_its_folder(battlebot: Run, stores: Settings, storage: Storage) -> None:
    """Without MONGODB_URI: the folder is locked by a server, whose mongod answers on its socket."""
    made = battlebot("token", "create", "--name", "Ada", BATTLEBOT_DATA=str(stores.data))
    assert TOKEN.fullmatch(made.stdout), made.stderr
    assert storage.tokens.holder(made.stdout.strip()) == "Ada"
    assert "Ada" in rows(battlebot("token", "list", "--data", str(stores.data)))


def test_the_embedded_server_keeps_a_token_of_its_own(settings: Settings, storage: Storage, tmp_path: Path) -> None:
    """In a file that nobody else may read; a start that finds a valid one there makes none, and does not use it."""
    kept = Settings(data=tmp_path, mongodb_uri=settings.mongodb_uri)
    path = tmp_path / "organiser_token"
    keep_first_token(kept)
    assert path.stat().st_mode & 0o777 == 0o600
    first, listed = path.read_text(), storage.tokens.list()
    keep_first_token(kept)
    assert path.read_text() == first
    assert storage.tokens.list() == listed
    assert storage.tokens.holder(first.strip()) == "embedded"


def test_the_embedded_server_starts_while_indexes_are_being_made(
    settings: Settings, storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Millions of matches may take minutes, and a start that gave up would stop the mongod that makes them."""

    def takes_long(_: Storage) -> None:
        raise Unavailable("MongoDB does not answer now (NetworkTimeout).")

    monkeypatch.setattr(Storage, "ensure_indexes", takes_long)
    with capture_logs() as logs:
        keep_first_token(Settings(data=tmp_path, mongodb_uri=settings.mongodb_uri))
    assert [row["event"] for row in logs] == ["indexes.put_off", "organiser.token_is_in"]
    assert storage.tokens.holder((tmp_path / "organiser_token").read_text().strip()) == "embedded"


@pytest.mark.parametrize("rotations", [1, 2])
def test_a_revoked_token_of_the_embedded_server_is_replaced(
    settings: Settings, storage: Storage, tmp_path: Path, rotations: int
) -> None:
    """By the next start, under a name that the audit tells from those before."""
    kept = Settings(data=tmp_path, mongodb_uri=settings.mongodb_uri)
    path = tmp_path / "organiser_token"
    keep_first_token(kept)
    for n in range(rotations):
        storage.tokens.revoke("embedded" if n == 0 else f"embedded {n + 1}")
        with capture_logs() as logs:
            keep_first_token(kept)
        assert [(row["event"], row["path"]) for row in logs] == [("organiser.token_is_in", str(path))]
        assert path.stat().st_mode & 0o777 == 0o600
        assert storage.tokens.holder(path.read_text().strip()) == f"embedded {n + 2}"
    assert len(storage.tokens.list()) == rotations + 1


def test_a_token_whose_file_was_removed_is_not_replaced(settings: Settings, storage: Storage, tmp_path: Path) -> None:
    """Whoever wants none at all on the disk can have it; nor is it said to be there."""
    kept = Settings(data=tmp_path, mongodb_uri=settings.mongodb_uri)
    path = tmp_path / "organiser_token"
    keep_first_token(kept)
    path.unlink()
    storage.tokens.revoke("embedded")
    with capture_logs() as logs:
        keep_first_token(kept)
    assert (logs, path.exists()) == ([], False)


def test_a_token_that_the_database_does_not_know_is_replaced(
    settings: Settings, storage: Storage, tmp_path: Path
) -> None:
    """The file outlived the database, or the server ended between the two."""
    path = tmp_path / "organiser_token"
    path.write_bytes(b"\xff of another database\n")
    keep_first_token(Settings(data=tmp_path, mongodb_uri=settings.mongodb_uri))
    assert storage.tokens.holder(path.read_text().strip()) == "embedded"


@pytest.mark.parametrize(("in_the_way", "done"), [("organiser_token", "read"), ("organiser_token.new", "written")])
def test_a_token_that_cannot_be_kept_is_none(
    settings: Settings, storage: Storage, tmp_path: Path, in_the_way: str, done: str
) -> None:
    """The next start tries again; a token in the database that nobody has seen would be in its way."""
    (tmp_path / in_the_way).mkdir()
    kept = Settings(data=tmp_path, mongodb_uri=settings.mongodb_uri)
    with pytest.raises(EmbeddedError, match=f"cannot be {done}"):
        keep_first_token(kept)
    assert storage.tokens.list() == []
    (tmp_path / in_the_way).rmdir()
    keep_first_token(kept)
    assert storage.tokens.holder((tmp_path / "organiser_token").read_text().strip()) == "embedded"
