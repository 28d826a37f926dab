"""One child process, which cannot outlive us: stopped by SIGTERM, then by SIGKILL. The supervisor restarts it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from battlebot.embedded import launch
from battlebot.embedded.folder import make_private
from battlebot.embedded.lastwords import most_telling
from battlebot.embedded.limits import perhaps, small_limits
from battlebot.errors import EmbeddedError

# mongod needs room for a file of 100 MB when it starts
LEAST_ROOM_MB = 128

_ENDED_S = 3.0  # whoever has removed its own socket has ended by then: mongod removes it first
_LOG_BYTES = 10_000_000
_TAIL_BYTES = 65_536  # mongod's last words are followed by 25,000 bytes of where in its code it dies

_started: set[Child] = set()


@dataclass(frozen=True, kw_only=True)
class Program:
    """What to run. `log` receives its output (None: it shares ours); `stop_s` is the time between SIGTERM and SIGKILL.

    `disk`: a folder on the disk where it needs free space. `waits_for_none`: at shutdown it is asked to stop at once,
    without waiting for programs started after it. `optional`: its repeated deaths do not stop the others. `socket`:
    where it listens, in a folder that is made again if it is gone.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] | None = None
    log: Path | None = None
    stop_s: float = 5.0
    disk: Path | None = None
    waits_for_none: bool = False
    optional: bool = False
    socket: Path | None = None

    def has_room(self) -> bool:
        """Whether its disk has enough free space for it to start."""
        if self.disk is None:
            return True
        try:
            return shutil.disk_usage(self.disk).free >= LEAST_ROOM_MB * 1_000_000
        except OSError:
            # The folder or its disk is gone: nothing can be started there
            return False


class Child:
    """A running `Program` in its own process group, so that Ctrl-C in a terminal reaches only the supervisor.

    On Linux it is killed when the *thread* that created this object ends, so that thread must live long enough.
    Raises EmbeddedError if the program cannot be started.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        output = None
        try:
            if program.socket and not make_private(program.socket.parent):
                raise EmbeddedError(f"{program.name} cannot be started: {program.socket.parent} is another user's.")
            output = _open_log(program.log) if program.log else None
            self._begun = os.fstat(output).st_size if output is not None else 0
            self._popen = self._start(output)
        except OSError as error:
            raise EmbeddedError(f"{program.name} cannot be started: {error.strerror}.{small_limits()}") from error
        finally:
            if output is not None:
                os.close(output)
        self._asked = False
        self._seen_s: float | None = None  # when its socket was last there
        _started.add(self)

    def _start(self, output: int | None) -> subprocess.Popen[bytes]:
        # A preexec_fn would need no launcher, but is unsafe once this process has threads
        launcher = [sys.executable, "-I", "-S", launch.__file__, str(os.getpid())]
        program = self.program
        return subprocess.Popen(
            [*launcher, *program.command],
            env=dict(program.environment) if program.environment is not None else None,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            process_group=0,
        )

    @property
    def pid(self) -> int:
        """The process id, which is also its process group's id."""
        return self._popen.pid

    @property
    def alive(self) -> bool:
        """Whether it is still running."""
        return self._popen.poll() is None

    def status(self) -> str:
        """How it ended, for a log line: `exit status 3`, `SIGKILL`, `signal 37` (which has no name), or `running`."""
        code = self._popen.poll()
        if code is None:
            return "running"
        if code >= 0:
            return f"exit status {code}"
        return next((one.name for one in signal.Signals if one == -code), f"signal {-code}")

    def is_cut_off(self, now_s: float) -> bool:
        """Whether the socket at which it listened has been removed, and not by itself: nobody can connect any more."""
        socket = self.program.socket
        if socket is None or self._asked:
            return False
        if socket.exists():
            self._seen_s = now_s
        return self._seen_s is not None and now_s - self._seen_s > _ENDED_S

    def ask_to_stop(self) -> None:
        """Send SIGTERM without waiting; once only, as many a program takes the second for a wish to end at once."""
        if self.alive and not self._asked:
            self._asked = True
            self._popen.terminate()

    def stop(self) -> None:
        """Send SIGTERM, wait up to `stop_s` seconds, then kill what is left of its process group."""
        self.ask_to_stop()
        if self.alive:
            with suppress(subprocess.TimeoutExpired):
                self._popen.wait(self.program.stop_s)
        self.kill()

    def kill(self) -> None:
        """Kill it and its whole process group at once, and reap it."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._popen.wait()
        _started.discard(self)

    def wait_until(self, ready: Callable[[], bool], limit_s: float) -> None:
        """Wait until `ready()` is true. Raises EmbeddedError if the child dies first or `limit_s` seconds pass."""
        deadline_s = time.monotonic() + limit_s
        while not ready():
            if not self.alive:
                raise EmbeddedError(f"{self.program.name} ended at its start ({self.status()}){self.why()}")
            if time.monotonic() > deadline_s:
                raise EmbeddedError(f"{self.program.name} was not ready after {limit_s:g} seconds{self.why()}")
            time.sleep(0.05)

    def bound_log(self) -> None:
        """Move what its log holds to `.log.1` if it has grown large. The program, which knows nothing of it, goes on.

        A line that is written meanwhile may be lost; on a full disk, or one that is gone, so may what cannot be moved.
        """
        log = self.program.log
        with suppress(OSError):
            if log is not None and log.stat().st_size > _LOG_BYTES:
                with suppress(OSError):
                    shutil.copy(log, log.with_suffix(".log.1"))
                os.truncate(log, 0)
                self._begun = 0

    def why(self) -> str:
        """Its last words, and what kept it from running if that may be a limit of the system's."""
        words, limits = self.last_words(), perhaps(self.status())
        return f"{words.removesuffix('.')}.{limits}" if limits else words

    def last_words(self) -> str:
        """`: ` with the most telling line of its log, and the log's path; `.` if it has none, or none to be read."""
        log = self.program.log
        if log is None:
            return "."
        try:
            with log.open("rb") as stream:
                size = log.stat().st_size
                # what is before is an earlier child's, unless the log has been moved meanwhile
                stream.seek(max(0, size - _TAIL_BYTES, self._begun if self._begun <= size else 0))
                lines = stream.read().decode(errors="replace").split("\n")
        except OSError:
            return "."
        words = most_telling(lines)
        return f": {words} (see {log})" if words is not None else f" (see {log})."


def without_room(sentence: str) -> EmbeddedError:
    """The error of a child that ended as the sentence says, on a full disk: its log may have had no room for why."""
    return EmbeddedError(f"{sentence.removesuffix('.')}; less than {LEAST_ROOM_MB} MB are free on its disk.")


def kill_all() -> None:
    """Send SIGKILL to every child that has not been stopped. Safe in a signal handler: never waits."""
    for child in list(_started):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)


def _open_log(path: Path) -> int:
    """Open the log for appending; a log that has grown large is renamed to `.log.1` first."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > _LOG_BYTES:
        path.replace(path.with_suffix(".log.1"))
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
