"""`battlebot token`: creates, lists and revokes organisers' tokens directly in the database."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from battlebot.cli.loading import load, of_data
from battlebot.cli.output import print_rows
from battlebot.errors import EmbeddedError, SettingError, Unavailable

if TYPE_CHECKING:
    from battlebot.config import Settings

TOKEN_FILE = "organiser_token"  # noqa: S105 - the file's name; the embedded server writes it at its first start
EMBEDDED = "embedded"  # the name of the first token that the embedded server creates for itself
LONGEST_NAME = 64
_DAYS = re.compile(r"(\d{1,5})d", re.ASCII)
COLUMNS = ("name", "state", "created", "expires", "last used")


@click.group("token")
def token_commands() -> None:
    """Manage organisers' tokens. They are kept at MONGODB_URI; without it, in the embedded mongod."""


@token_commands.command()
@click.option("--name", required=True, help="Whom it is for; shown in the audit of contests.")
@click.option("--expires", help="When it expires: 30d (days), or 2026-12-31 (last day, UTC). Default: never.")
@of_data
def create(name: str, expires: str | None, data: Path | None) -> None:
    """Create a token and print it. It is shown only once."""
    if not name.isprintable() or not 1 <= len(name.strip()) <= LONGEST_NAME or name != name.strip():
        raise click.UsageError(f"--name must have 1 to {LONGEST_NAME} printable characters.")
    ends = None if expires is None else _end(expires, datetime.now(UTC))
    from battlebot.cli.database import open_storage

    with open_storage(load(data=data)) as storage:
        storage.ensure_indexes()
        token = storage.tokens.create(name, ends)
    click.echo(token)
    if sys.stdout.isatty():
        click.echo("Keep it: only its hash is stored. Use it as BATTLEBOT_TOKEN, or as a bearer token.", err=True)


@token_commands.command("list")
@of_data
def list_tokens(data: Path | None) -> None:
    """List all tokens with their last use. A table on a terminal, tab-separated columns elsewhere."""
    from battlebot.cli.database import open_storage

    with open_storage(load(data=data)) as storage:
        rows = [_row(row, datetime.now(UTC)) for row in storage.tokens.list()]
    print_rows(COLUMNS, rows, COLUMNS)


@token_commands.command()
@click.argument("name")
@of_data
def revoke(name: str, data: Path | None) -> None:
    """Revoke a token, at once and for good."""
    from battlebot.cli.database import open_storage

    with open_storage(load(data=data)) as storage:
        if not storage.tokens.revoke(name):
            raise SettingError(f"There is no token named {name!r}.")
    click.echo(f"{name} is revoked.")


def keep_first_token(settings: Settings) -> None:
    """Create the embedded server's own token, unless its file (mode 0600) has a valid one, and log the file's path.

    Where the file was removed there is to be none: another one is not made. `settings` name that server's MongoDB.
    Raises EmbeddedError, Unavailable.
    """
    import structlog

    from battlebot.cli.database import open_storage

    log = structlog.get_logger()
    path = settings.data / TOKEN_FILE
    with open_storage(settings) as storage:
        try:
            storage.ensure_indexes()
        except Unavailable as error:
            # after an upgrade they may take long; MongoDB goes on making them, unless it is stopped because this fails
            log.warning("indexes.put_off", error=str(error))
        kept, names = _read(path), {row["name"] for row in storage.tokens.list()}
        if kept is None and EMBEDDED in names:
            return
        if kept is None or not storage.tokens.is_valid(kept):
            # the file is written first: a token that is only in the database could never be used
            storage.tokens.create(_free(names), keep=lambda token: _write(path, token))
    log.info("organiser.token_is_in", path=str(path))


def _free(names: set[str]) -> str:
    """The first of "embedded", "embedded 2", ... that no token has or had."""
    return next(name for n in count(1) if (name := EMBEDDED if n == 1 else f"{EMBEDDED} {n}") not in names)


def _read(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace").strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise EmbeddedError(f"The organiser's token cannot be read from {path}: {error.strerror}.") from error


def _write(path: Path, token: str) -> None:
    from battlebot.embedded.folder import write_secret

    try:
        write_secret(path, token)
    except OSError as error:
        raise EmbeddedError(f"The organiser's token cannot be written to {path}: {error.strerror}.") from error


def _end(text: str, now: datetime) -> datetime:
    """When a token expires: a number of days from now, or the end of a day in UTC. Raises click.UsageError."""
    days = _DAYS.fullmatch(text)
    try:
        end = now + timedelta(days=int(days[1])) if days else _day(text) + timedelta(days=1)
    except OverflowError:
        raise click.UsageError(f"--expires {text!r} is too far away: leave it out, and it never expires.") from None
    except ValueError:
        raise click.UsageError(f"--expires {text!r} is neither days (30d) nor a date (2026-12-31).") from None
    if end <= now:
        raise click.UsageError(f"--expires {text!r} has passed.")
    return end


def _day(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)


def _row(token: dict[str, Any], now: datetime) -> list[str]:
    expired = token["expiresAt"] is not None and token["expiresAt"] <= now
    state = "revoked" if token["revokedAt"] else "expired" if expired else "valid"
    moments = (token["createdAt"], token["expiresAt"], token["lastUsedAt"])
    return [token["name"], state, *(_moment(at) for at in moments)]


def _moment(at: datetime | None) -> str:
    return "never" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"
