"""Environment -> frozen Settings, validated at start. Nothing else reads the server's settings from there."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from io import StringIO
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from dotenv import dotenv_values

from battlebot.config.natslogin import nats_login
from battlebot.config.origins import ORIGIN
from battlebot.config.secretkey import keys_of
from battlebot.config.settings import Settings, networks_of, origins_of
from battlebot.config.stores import check_mongodb, check_redis_url
from battlebot.errors import SettingError

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
PREFIX = "BATTLEBOT_"
# read by the commands for organisers, and by the Compose file
OF_OTHERS = frozenset({"BATTLEBOT_TOKEN", "BATTLEBOT_PUBLISH", "BATTLEBOT_TCP_PUBLISH", "BATTLEBOT_IMAGE"})
# read if the variable itself is absent: hosting platforms set them, and the original battlebot server read them
OTHER_NAMES = {"BATTLEBOT_PORT": "PORT"}


def load_settings(
    environ: Mapping[str, str] | None = None, dotenv: Path | None = Path(".env"), **overrides: Any
) -> Settings:
    """Settings from `environ` (default: the process's), over `.env`, over the defaults; `overrides` win.

    An empty value counts as absent; for absent variables `OTHER_NAMES` are read. Raises SettingError naming the
    variable, what is allowed, and the value unless that may hold a secret.
    """
    environ = os.environ if environ is None else environ
    from_file = _from_file(dotenv)
    values: dict[str, Any] = {}
    for row in fields(Settings):
        for env in filter(None, (row.metadata["env"], OTHER_NAMES.get(row.metadata["env"]))):
            raw = (environ.get(env) or "").strip() or (from_file.get(env) or "").strip()
            if raw:
                values[row.name] = _parse(env, raw, row.type)
                break
    values.update({name: value for name, value in overrides.items() if value is not None})
    if overrides.get("data") is not None:
        values["data"] = _folder("--data", str(values["data"]))
    settings = Settings(**values)
    _check_bounds(settings)
    _check_choices(settings)
    return settings


def unknown_variables(
    environ: Mapping[str, str] | None = None, dotenv: Path | None = Path(".env")
) -> dict[str, str | None]:
    """The variables that nothing reads and that seem meant for us, each with the known one that looks most like it.

    They begin as ours do, or nearly are one that is not given, such as `REDIS_URI`. Raises SettingError if the file
    cannot be read.
    """
    settings = [row.metadata["env"] for row in fields(Settings)]
    given = {*(os.environ if environ is None else environ), *_from_file(dotenv)}
    unread = sorted(given - OF_OTHERS - set(settings))
    unknown = {name: _nearest(name, settings, 0.8) for name in unread if name.startswith(PREFIX)}
    missing = [name for name in settings if name not in given and not name.startswith(PREFIX)]
    for name in unread:
        if name not in unknown and (nearest := _nearest(name, missing, 0.85)):
            unknown[name] = nearest
    return unknown


def _nearest(name: str, names: Sequence[str], likeness: float) -> str | None:
    return next(iter(get_close_matches(name, names, 1, likeness)), None)


def _from_file(dotenv: Path | None) -> Mapping[str, str | None]:
    try:
        text = dotenv.read_text("utf-8") if dotenv is not None and dotenv.is_file() else ""
    except OSError as error:
        raise SettingError(f"{dotenv} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise SettingError(f"{dotenv} cannot be read as UTF-8 text.") from None
    # a crash of the machine may leave them in place of what was written
    if "\0" in text:
        raise SettingError(f"{dotenv} is damaged: it holds zeros.")
    return dotenv_values(stream=StringIO(text))


def as_environment(settings: Settings) -> dict[str, str]:
    """The environment that makes a child process load equal settings. Shape: variable -> text."""
    environment = {}
    for row in fields(Settings):
        value = getattr(settings, row.name)
        text = "" if value is None else str(int(value)) if isinstance(value, bool) else str(value)
        environment[row.metadata["env"]] = text
    return environment


def _parse(env: str, raw: str, kind: Any) -> Any:
    name = (kind if isinstance(kind, str) else kind.__name__).removesuffix(" | None")
    if name == "Path":
        return _folder(env, raw)
    if name == "str":
        return raw
    if name == "bool":
        return _parse_bool(env, raw)
    try:
        # Python would also take underscores, names such as inf, and digits of other scripts
        if not NUMBER.fullmatch(raw):
            raise ValueError
        return int(raw) if name == "int" else float(raw)
    except ValueError:
        raise SettingError(f"{env}={raw!r} is not {'a whole number' if name == 'int' else 'a number'}.") from None


def _folder(given_by: str, raw: str) -> Path:
    try:
        return Path(raw).expanduser()
    except RuntimeError:
        raise SettingError(f"{given_by}={raw!r} names a home that nobody has.") from None


def _parse_bool(env: str, raw: str) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    if raw.lower() not in words:
        raise SettingError(f"{env}={raw!r} is neither true nor false.")
    return words[raw.lower()]


def _check_bounds(settings: Settings) -> None:
    for row in fields(Settings):
        low, high = row.metadata["low"], row.metadata["high"]
        value = getattr(settings, row.name)
        # written so that NaN is out of bounds as well
        if low is not None and high is not None and not low <= value <= high:
            raise SettingError(f"{row.metadata['env']}={value} is out of bounds: {_plain(low)} to {_plain(high)}.")


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else str(number)


def _check_choices(settings: Settings) -> None:
    choices = {
        "log_format": ("json", "console", "auto"),
        "log_level": ("debug", "info", "warning", "error"),
    }
    for row in fields(Settings):
        allowed = choices.get(row.name)
        value = getattr(settings, row.name)
        if allowed and value not in allowed:
            raise SettingError(f"{row.metadata['env']}={value!r} is not one of {', '.join(allowed)}.")
    if settings.secret_key:
        keys_of(settings.secret_key)
    for origin in origins_of(settings):
        if origin != "*" and not ORIGIN.fullmatch(origin):
            raise SettingError(f"BATTLEBOT_ORIGINS: {origin!r} is not an origin, as https://bots.example.org is one.")
    for network in networks_of(settings):
        try:
            ip_network(network)
        except ValueError:
            raise SettingError(f"BATTLEBOT_BOT_NETWORKS: {network!r} is no network, as 10.1.0.0/16 is one.") from None
    if settings.redis_url:
        check_redis_url(settings.redis_url)
    check_mongodb(settings.mongodb_uri, settings.mongodb_database)
    if settings.nats_url:
        nats_login(settings.nats_url)
