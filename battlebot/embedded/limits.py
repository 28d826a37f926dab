"""What the system allows this process, for the sentence that tells why a part did not run: small limits are named."""

from __future__ import annotations

import resource
from contextlib import suppress
from pathlib import Path

KILLED = "SIGKILL"  # the status of a part by Linux's doing, or an operator's: we send it only to those we stop
SERVER_MB = 600  # of memory that a whole server with its own stores takes

_KB, _GB = 1024, 1024**3

# limit -> less than which it is named; `ulimit`'s unit; what is counted, and how the shell shows it
_ENOUGH = {
    resource.RLIMIT_AS: (8 * _GB, _KB, "kB of addresses", "ulimit -v"),
    resource.RLIMIT_DATA: (2 * _GB, _KB, "kB of data", "ulimit -d"),
    resource.RLIMIT_FSIZE: (1 * _GB, _KB, "kB a file", "ulimit -f"),
    resource.RLIMIT_NPROC: (1024, 1, "processes and threads", "ulimit -u"),
    resource.RLIMIT_NOFILE: (128, 1, "open files", "ulimit -n"),
}


def small_limits() -> str:
    """` ` and a sentence that names the limits that are small; "" if none is."""
    found = []
    for limit, (enough, unit, counted, name) in _ENOUGH.items():
        allowed = resource.getrlimit(limit)[0]
        if allowed != resource.RLIM_INFINITY and allowed < enough:
            found.append(f"{allowed // unit} {counted} ({name})")
    tasks, enough = _tasks_of_group(), _ENOUGH[resource.RLIMIT_NPROC][0]
    if tasks is not None and tasks < enough:
        found.append(f"{tasks} processes and threads (pids.max of its control group)")
    return f" The system allows only {' and '.join(found)} here: raise the limit." if found else ""


def _tasks_of_group(groups: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """How many processes and threads the container or the service that we are in may have; None if that is not told."""
    with suppress(OSError):
        for line in groups.read_text().splitlines():
            _, kinds, path = line.split(":", 2)
            if kinds in ("", "pids"):
                # "max" is no number
                with suppress(OSError, ValueError):
                    return int((root / kinds / path.lstrip("/") / "pids.max").read_text())
    return None


def perhaps(status: str) -> str:
    """` ` and a sentence on what may have ended a part with this status, none of whose doing it was; "" if unknown."""
    if status == KILLED:
        killed = f" Linux kills so when memory runs out, of which a whole server takes about {SERVER_MB} MB."
        return killed + small_limits()
    return small_limits()
