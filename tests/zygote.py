"""Parts forked from a process that has loaded their code: loading it is four fifths of what a start costs.

Runs as a script, too: `zygote.py green` has gevent's patches, `zygote.py plain` has none. How a part starts by its own
command is seen by the tests that use `Child` itself, or a whole server.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import select
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock, current_thread, main_thread
from typing import Any

from battlebot.embedded import launch
from battlebot.embedded.collector import expect_code
from battlebot.embedded.commands import UNTRACED
from battlebot.embedded.process import Child

GAMES = ("battlecube", "connectfour", "crossword", "gomoku", "noughtsandcrosses", "numberwang")
# What a part loads at its start, except for modules that look at their process or its environment while they are loaded
GREEN = (
    "app",
    "battlebot.cli.tcp_node",
    "battlebot.embedded.webworker",
    "celery.concurrency.gevent",
    "gunicorn.app.wsgiapp",
    "gunicorn.glogging",
)
PLAIN = (
    "battlebot.cli",
    "battlebot.client",
    "battlebot.embedded.server",
    "celery.apps.beat",
    "celery.concurrency.prefork",
)
BOTH = (
    *(f"games.{name}" for name in GAMES),
    "celery.apps.worker",
    "celery.backends.base",
    "celery.events.receiver",
    "celery.worker.components",
    "celery.worker.consumer",
    "celery.worker.strategy",
    "kombu.transport.redis",
    "tasks.celeryapp",
    "tasks.leaving",
    "tasks.reconnecting",
    "wsgi",
)
READ = 65_536  # bytes
LOOK_S = 0.05
LIMIT_S = 60.0  # for a command


class Zygote:
    """The process that is forked; it ends with the one that made this object, and so do its children."""

    def __init__(self, kind: str) -> None:
        launcher = [sys.executable, "-I", "-S", launch.__file__, str(os.getpid())]
        # gevent would wait for children in ways of its own; what is read while it is imported is as in a real part
        environment = {**os.environ, **UNTRACED, "GEVENT_NOWAITPID": "1"}
        self._process = subprocess.Popen(
            [*launcher, sys.executable, "-P", __file__, kind],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,
        )
        self._forking, self._reading = Lock(), Lock()
        self._unread = b""
        self._born = 0  # the process id of the last one
        self._ended: dict[int, int] = {}  # process id -> exit status, negative for a signal

    def fork(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path, out: Path, err: Path
    ) -> Forked:
        """Starts a process that does in the folder what `python -m COMMAND` does, its output appended to the files."""
        files = {"folder": str(folder), "out": str(out), "err": str(err)}
        request = {"command": command, "environment": dict(environment), **files}
        with self._forking:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            while not self._born:
                self.read(LOOK_S)
            born, self._born = self._born, 0
        return Forked(self, born)

    def status(self, pid: int) -> int | None:
        """Returns how a child has ended, if it has."""
        self.read(0)
        return self._ended.get(pid)

    def read(self, wait_s: float) -> None:
        """Reads what the process tells; waits for so long at most."""
        with self._reading:
            if not select.select([self._process.stdout], [], [], wait_s)[0]:
                return
            read = os.read(self._process.stdout.fileno(), READ)
            assert read, "what parts are forked from has died"
            *lines, self._unread = (self._unread + read).split(b"\n")
            for line in lines:
                word, pid, status = line.split()
                if word == b"born":
                    self._born = int(pid)
                    self._ended.pop(self._born, None)  # another that had this number
                else:
                    self._ended[int(pid)] = int(status)

    def end(self) -> None:
        """Ends the process, and with it what was forked from it."""
        self._process.communicate()


class Forked:
    """What `Child` uses of a `subprocess.Popen`."""

    def __init__(self, zygote: Zygote, pid: int) -> None:
        self._zygote = zygote
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Returns how it ended, or None."""
        if self.returncode is None:
            self.returncode = self._zygote.status(self.pid)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Waits for its end. Raises subprocess.TimeoutExpired."""
        until_s = None if timeout is None else time.monotonic() + timeout
        while self.poll() is None:
            if until_s is not None and time.monotonic() >= until_s:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
            self._zygote.read(LOOK_S)
        assert self.returncode is not None
        return self.returncode

    def terminate(self) -> None:
        """Sends SIGTERM unless it has ended."""
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        """Sends SIGKILL unless it has ended."""
        self._send(signal.SIGKILL)

    def _send(self, signum: signal.Signals) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signum)


class ForkedChild(Child):
    """A `Child` whose program is a module of Python's, as `embedded/commands.py` names it."""

    def _start(self, output: int | None) -> Any:
        program = self.program
        command = program.command[program.command.index("-m") + 1 :]
        kind = "green" if command[1] in ("gunicorn", "gevent.monkey") else "plain"
        return zygote(kind).fork(command, program.environment, Path.cwd(), program.log, program.log)


def run(arguments: Sequence[str], environment: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs the command `battlebot` in that folder to its end."""
    with tempfile.TemporaryDirectory() as written:
        out, err = Path(written, "out"), Path(written, "err")
        forked = zygote("plain").fork(["battlebot", *arguments], environment, folder, out, err)
        try:
            status = forked.wait(LIMIT_S)
        finally:
            forked.kill()
        return subprocess.CompletedProcess(arguments, status, out.read_text(), err.read_text())


@cache
def zygote(kind: str) -> Zygote:
    """Returns this process's own of that kind. It would end with the thread that asks for it first."""
    assert current_thread() is main_thread()
    made = Zygote(kind)
    atexit.register(made.end)
    return made


def main() -> None:
    """Loads the code, then forks for each line of stdin; a child becomes what that line names."""
    _load(sys.argv[1])
    gc.collect()
    gc.freeze()
    module, *arguments = _next_child()["command"]
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _load(kind: str) -> None:
    if kind == "green":
        from gevent import monkey

        # the arbiter of a web node waits for its workers by signals
        monkey.patch_all(signal=False)
        warnings.simplefilter("ignore", monkey.MonkeyPatchWarning)
        from battlebot.transports.socketio_lean import load_lean_servers

        load_lean_servers()
    for name in (*(GREEN if kind == "green" else PLAIN), *BOTH, *import_module("tasks.celeryapp").TASKS):
        import_module(name)


def _next_child() -> dict[str, Any]:
    """Returns in each child: what it is to become. The process itself ends where its stdin does."""
    from gevent.monkey import get_original

    wait = get_original("select", "select")
    wake, woken = os.pipe()
    for end in (wake, woken):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken)
    unread = b""
    while True:
        ready, _, _ = wait([0, wake], [], [])
        if wake in ready:
            os.read(wake, READ)
            _tell_of_the_dead()
        if 0 in ready:
            read = os.read(0, READ)
            if not read:
                sys.exit()
            *lines, unread = (unread + read).split(b"\n")
            for line in lines:
                parent, pid = os.getpid(), os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    os.closerange(3, woken + 1)
                    return _become(json.loads(line), parent)
                with suppress(OSError):  # both do so, as nobody knows which is first
                    os.setpgid(pid, pid)
                _tell(f"born {pid} 0")


def _become(request: dict[str, Any], parent: int) -> dict[str, Any]:
    with suppress(OSError):
        os.setpgid(0, 0)
    launch.die_with_parent(parent)
    for number, path in ((0, os.devnull), (1, request["out"]), (2, request["err"])):
        opened = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    return request


def _tell_of_the_dead() -> None:
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            _tell(f"died {ended[0]} {os.waitstatus_to_exitcode(ended[1])}")


def _tell(line: str) -> None:
    os.write(1, line.encode() + b"\n")


if __name__ == "__main__":
    expect_code()
    main()
