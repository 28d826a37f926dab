"""Where an export goes: to stdout as it arrives, or to a file that is written completely or not at all."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from battlebot.errors import SettingError


@contextmanager
def destination(path: Path | None) -> Iterator[BinaryIO]:
    """A stream to write to: stdout for None. A file is put in place at the end; after an error nothing has changed.

    Raises SettingError if it cannot be written. It is no error if the reader of stdout closes the pipe.
    """
    target = None if path is None else _replaced(path)
    if target is None:
        with _directly(path) as stream:
            yield stream
        return
    part = target.with_name(f".{target.name[:200]}.{os.getpid()}.part")
    try:
        with part.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(target)
    except OSError as error:
        raise SettingError(f"{path} cannot be written: {error.strerror}.") from None
    finally:
        with suppress(OSError):
            part.unlink()


def _replaced(path: Path) -> Path | None:
    """The file to put in place: a symbolic link stays, and its target is replaced. None for what is no file."""
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        is_file = True
    except OSError as error:
        raise SettingError(f"{path} cannot be written: {error.strerror}.") from None
    return path.resolve() if is_file else None


def drop_output(output: TextIO | None = None) -> None:
    """Lead stdout, or stderr, nowhere: what its buffer still holds could not be written, and Python tries at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    output = sys.stdout if output is None else output
    os.dup2(nowhere, output.fileno())
    os.close(nowhere)


@contextmanager
def _directly(path: Path | None) -> Iterator[BinaryIO]:
    """Stdout, or a path that cannot be replaced: a pipe, a device."""
    try:
        if path is None:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        else:
            with path.open("wb") as stream:
                yield stream
    except BrokenPipeError:
        # the reader, such as `head`, is gone
        if path is None:
            drop_output()
    except OSError as error:
        raise SettingError(f"{path or 'The output'} cannot be written: {error.strerror}.") from None
