"""What is told of a part that small limits of the system's, or a lack of memory, keep from running."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import eventually
from structlog.testing import capture_logs

from battlebot.embedded import limits
from battlebot.embedded.limits import _tasks_of_group, perhaps, small_limits
from battlebot.embedded.process import Child, Program
from battlebot.embedded.supervisor import Supervisor
from battlebot.errors import EmbeddedError

TELL = "from battlebot.embedded import limits; limits._tasks_of_group = lambda: None; print(limits.small_limits())"


def limited(code: str, **limits: int) -> str:
    """What the code prints in a process with these limits."""

    def limit() -> None:
        for name, allowed in limits.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (allowed, allowed))

    command = [sys.executable, "-c", code]
    return subprocess.run(command, preexec_fn=limit, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize(
    ("small", "told"),
    [
        ({"AS": 512 * 1024**2}, "524288 kB of addresses (ulimit -v)"),
        ({"DATA": 256 * 1024**2}, "262144 kB of data (ulimit -d)"),
        ({"FSIZE": 1024**2, "NOFILE": 64}, "1024 kB a file (ulimit -f) and 64 open files (ulimit -n)"),
        ({"NPROC": 60}, "60 processes and threads (ulimit -u)"),
    ],
)
def test_small_limits_are_named_as_the_shell_does(small: dict[str, int], told: str) -> None:
    """With what to do."""
    assert limited(TELL, **small) == f"The system allows only {told} here: raise the limit."


def test_usual_limits_are_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """They explain nothing."""
    usual = {resource.RLIMIT_NPROC: 4096, resource.RLIMIT_NOFILE: 256}
    monkeypatch.setattr(limits, "_tasks_of_group", lambda: 4096)
    monkeypatch.setattr(resource, "getrlimit", lambda limit: (usual.get(limit, resource.RLIM_INFINITY),) * 2)
    assert small_limits() == ""
    assert perhaps("exit status 1") == ""


@pytest.mark.parametrize(
    ("groups", "file", "text", "allowed"),
    [
        ("0::/", "pids.max", "100\n", 100),
        ("0::/system.slice/battlebot.service", "system.slice/battlebot.service/pids.max", "60\n", 60),
        ("3:cpu:/\n2:pids:/docker/7\n0::/", "pids/docker/7/pids.max", "80\n", 80),
        ("0::/", "pids.max", "max\n", None),
        ("0::/gone", "pids.max", "100\n", None),
    ],
)
def test_so_is_that_of_a_container(groups: str, file: str, text: str, allowed: int | None, tmp_path: Path) -> None:
    """`docker run --pids-limit`, or TasksMax of a service; in both versions of control groups."""
    (tmp_path / "cgroup").write_text(groups)
    (tmp_path / "root" / file).parent.mkdir(parents=True)
    (tmp_path / "root" / file).write_text(text)
    assert _tasks_of_group(tmp_path / "cgroup", tmp_path / "root") == allowed


def test_a_part_that_ends_at_its_start_is_told_with_the_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own last words say what it could not do, and not why."""
    monkeypatch.setattr("battlebot.embedded.process.perhaps", lambda status: f" {status}: raise it.")
    program = Program(name="failing", command=[sys.executable, "-S", "-c", "1 / 0"], log=tmp_path / "failing.log")
    with pytest.raises(
        EmbeddedError, match=r"ZeroDivisionError: .+ \(see .+failing\.log\)\. exit status 1: raise it\.$"
    ):
        Child(program).wait_until(lambda: False, 60.0)


def test_a_part_that_was_killed_is_told_with_what_kills() -> None:
    """Nothing else says so: it had no time for last words."""
    supervisor = Supervisor()
    supervisor.start(Program(name="sleeper", command=[sys.executable, "-S", "-c", "import time; time.sleep(600)"]))
    child = supervisor.child("sleeper")
    os.kill(child.pid, signal.SIGKILL)
    eventually(lambda: not child.alive)
    with capture_logs() as logs:
        supervisor._look(time.monotonic())
    supervisor.stop()
    assert [entry["perhaps"] for entry in logs if entry["event"] == "part.died"] == ["memory ran out"]
    assert "Linux kills so when memory runs out" in child.why()
