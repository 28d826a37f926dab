"""Where an export goes: to stdout as it arrives, or to a file that is written completely or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from battlebot.errors import SettingError


@contextmanager
def destination(path: Path | None) -> Iterator[BinaryIO]:
    """A stream to write to: stdout for None. A file is put in place at the end; after an error nothing has changed.

    Raises SettingError if it cannot be written. It is no error if the reader of stdout closes the pipe.
    """
    if path is None or (path.exists() and not path.is_file()):
        with _directly(path) as stream:
            yield stream
        return
    # a symbolic link stays, and its target is replaced
    target = path.resolve()
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
        part.unlink(missing_ok=True)


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
        # the reader, such as `head`, is gone; flushing the rest of the buffer at exit would fail once more
        if path is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
    except OSError as error:
        raise SettingError(f"{path or 'The output'} cannot be written: {error.strerror}.") from None
