"""Finds a command's server and token from its options, the environment, the config file and the data folder."""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from battlebot.cli.output import plain
from battlebot.cli.rest import RefusedByServer, Rest
from battlebot.cli.token import TOKEN_FILE
from battlebot.client.address import Address, parse_address
from battlebot.client.errors import BadAddress
from battlebot.errors import SettingError

DEFAULT_SERVER = "http://127.0.0.1:3000"
THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
# raised by answers that lack something, or have it in another form
OTHER_FORM = (KeyError, IndexError, TypeError, ValueError, AttributeError)
NO_TOKEN = "no-token"  # noqa: S105 - the code of the server's refusal
TOKEN_VARIABLE = "BATTLEBOT_TOKEN"  # noqa: S105 - the variable's name


def on_server(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options --server and --data, and hands the command a `rest`.

    An answer that the command cannot read is taken for that of another program, or of a server of another version.
    """

    @wraps(command)
    def made(*args: Any, server: str, data: Path | None, **kwargs: Any) -> Any:
        rest = connect(server, data)
        try:
            return command(*args, rest=rest, **kwargs)
        except UnicodeEncodeError:
            raise  # an argument that is no text
        except OTHER_FORM as error:
            raise rest.no_server_of_ours(f"{type(error).__name__}: {error}") from error
        except RefusedByServer as error:
            if error.code == NO_TOKEN:
                raise RefusedByServer(error.status, error.code, _where_a_token_belongs(server)) from None
            raise

    for option in (
        click.option(
            "--data",
            type=click.Path(path_type=Path),
            help="Data folder of a server on this machine, to read its token.",
        ),
        click.option("--server", metavar="URL", default=DEFAULT_SERVER, show_default=True, help="URL of the server."),
    ):
        option(made)
    return made


def connect(server: str, data: Path | None) -> Rest:
    """A client of the server, with the token for it if there is one.

    Raises UsageError for a bad address, SettingError for an unusable token.
    """
    try:
        address = parse_address(server)
    except BadAddress as error:
        raise click.UsageError(f"--server: {error}") from None
    token = token_for(address, data)
    if token and not (token.isascii() and token.isprintable()):
        raise SettingError("The token has characters that no token has: set it anew.")
    if token and not (address.secure or address.local):
        click.echo(f"battlebot: The token goes to {address.netloc} unencrypted; prefer https://.", err=True)
    return Rest(address, token)


def _where_a_token_belongs(server: str) -> str:
    entry = f'token = "..." under [servers."{server}"] in {config_path()}'
    folder = ", or name its data folder by --data" if parse_address(server).local else ""
    found_none = f"This is for organisers, and no token for {server} was found"
    return plain(f"{found_none}: set {TOKEN_VARIABLE}, or {entry}{folder}.")


def token_for(address: Address, data: Path | None) -> str | None:
    """BATTLEBOT_TOKEN, else the config file's token for this server, else that of a local embedded server."""
    # not read through Settings: the token is the client's, and no server may print it
    token = os.environ.get(TOKEN_VARIABLE, "").strip() or _from_config(address)
    return token or (_from_data_folder(data) if address.local else None)


def config_path() -> Path:
    """`~/.config/battlebot/config.toml`, or the same under XDG_CONFIG_HOME."""
    home = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    if not home.is_absolute():
        home = Path("~/.config")
        # a user that the system does not know, as in a container, has no home: nothing is there
        with suppress(RuntimeError):
            home = home.expanduser()
    return home / "battlebot" / "config.toml"


def _from_config(address: Address) -> str | None:
    path = config_path()
    try:
        with path.open("rb") as stream:
            servers = tomllib.load(stream).get("servers", {})
            others_may_read = stat.S_IMODE(os.fstat(stream.fileno()).st_mode) & 0o077
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise SettingError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    for url, entry in servers.items() if isinstance(servers, dict) else ():
        if _same(url, address):
            token = entry.get("token") if isinstance(entry, dict) else None
            if not isinstance(token, str) or not token.strip():
                raise SettingError(f'{path} has no token = "..." under [servers."{plain(url)}"].')
            if others_may_read:
                click.echo(f"battlebot: Others on this machine can read {path}; chmod 600 it.", err=True)
            return token.strip()
    return None


def _same(url: str, address: Address) -> bool:
    try:
        return _place(parse_address(url)) == _place(address)
    except BadAddress as error:
        raise SettingError(f"{config_path()}: {error}") from None


def _place(address: Address) -> tuple[str, str, int | None, str]:
    """What tells a server from others; the names that every machine has for itself are one."""
    url = urlsplit(address.rest_url().lower())
    host = url.hostname or ""
    return url.scheme, "localhost" if host in THIS_MACHINE else host, url.port, url.path


def _from_data_folder(data: Path | None) -> str | None:
    from battlebot.config import load_settings

    path = load_settings(data=data).data / TOKEN_FILE
    try:
        return path.read_text().strip() or None
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"The token in {path} cannot be read: {error}.") from None
