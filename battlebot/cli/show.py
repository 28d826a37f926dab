"""Shows the settings: a table on a terminal, lines for a .env file elsewhere."""

from __future__ import annotations

import sys
from dataclasses import fields

import click

from battlebot.config import Settings, nats_login
from battlebot.logs import MASK, SECRET_KEYS, mask_url


def show_settings(settings: Settings) -> None:
    """Print every setting to stdout."""
    rows = list(setting_rows(settings))
    if not sys.stdout.isatty():
        click.echo("\n".join(f"# {doc}\n{name}={value}" for name, value, doc in rows))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("setting", "value", "meaning", title="Battlebot's settings")
    for name, value, doc in rows:
        table.add_row(name, value, doc)
    Console().print(table)


def setting_rows(settings: Settings) -> list[tuple[str, str, str]]:
    """For each setting: its name in the environment, its value as text with secrets masked, and its meaning."""
    rows = []
    for row in fields(settings):
        value = getattr(settings, row.name)
        text = str(value).lower() if isinstance(value, bool) else mask_url("" if value is None else str(value))
        if row.name in SECRET_KEYS and text:
            text = MASK
        if row.name == "nats_url" and value:
            text = _without_login(value)
        rows.append((row.metadata["env"], text, row.metadata["doc"]))
    return rows


def _without_login(url: str) -> str:
    """A NATS_URL without its credentials: what stands there may hold `/` and `@`, and needs no scheme before it."""
    login = nats_login(url)
    return login.server.replace("://", f"://{MASK}@") if login.credentials else url
