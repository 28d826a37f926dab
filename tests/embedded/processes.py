"""Inspects processes through /proc, and waits for conditions."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

LISTENS = "0A"  # the state, in /proc/net/tcp


def eventually(condition: Callable[[], object], limit_s: float = 60.0) -> None:
    """Return when the condition is true; fail after the limit."""
    deadline_s = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline_s, f"not within {limit_s:g} seconds: {condition}"
        time.sleep(0.02)


def descendants(pid: int) -> dict[int, str]:
    """Returns all processes below `pid`: id -> (start time, name), which together are unique."""
    children: dict[int, list[int]] = {}
    marks = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (stat := _stat(int(entry.name))):
            children.setdefault(int(stat[1]), []).append(int(entry.name))
            marks[int(entry.name)] = _mark(stat)
    found: dict[int, str] = {}
    waiting = [pid]
    while waiting:
        for child in children.get(waiting.pop(), []):
            found[child] = marks[child]
            waiting.append(child)
    return found


def survivors(processes: dict[int, str]) -> list[int]:
    """Returns which of `descendants` still run. A zombie does not."""
    return [
        pid for pid, mark in processes.items() if (stat := _stat(pid)) and stat[0] not in "ZX" and _mark(stat) == mark
    ]


def command(pid: int) -> str:
    """Returns the command line of a process."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()


def _mark(stat: list[str]) -> str:
    return stat[19]


def _stat(pid: int) -> list[str]:
    """Returns the fields from `state` on, which follow the name in brackets; empty if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def listening(pid: int) -> bool:
    """Returns whether a process listens on a TCP port."""
    sockets = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            sockets.add(entry.readlink().name)
    rows = [row.split() for kind in ("tcp", "tcp6") for row in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]]
    return any(row[3] == LISTENS and f"socket:[{row[9]}]" in sockets for row in rows)
