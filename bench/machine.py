"""Cores, CPU time and memory of processes, from Linux's /proc. Elsewhere nothing is pinned or measured."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
GONE = (FileNotFoundError, ProcessLookupError)


def two_cores() -> tuple[int, int] | None:
    """The core for what is measured and the core for all else; None if processes cannot be pinned to two cores."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    cores = sorted(os.sched_getaffinity(0))
    return (cores[0], cores[1]) if len(cores) > 1 else None


def family(pid: int) -> list[int]:
    """The process and all its living descendants."""
    found, unseen = [], [pid]
    while unseen:
        member = unseen.pop()
        found.append(member)
        for children in (PROC / str(member) / "task").glob("*/children"):
            with suppress(*GONE):
                unseen += map(int, children.read_text().split())
    return found


def pin(pids: Iterable[int], core: int) -> None:
    """Pin the processes to one core: all their threads, and what these start later."""
    for pid in pids:
        for task in (PROC / str(pid) / "task").glob("*"):
            with suppress(*GONE):
                os.sched_setaffinity(int(task.name), {core})


def cpu_s(pids: Iterable[int]) -> float:
    """CPU seconds used so far by the processes, in user and kernel mode; 0 for those that are gone."""
    ticks = 0
    for pid in pids:
        with suppress(*GONE):
            # split after the name, which may contain spaces; user and system time are fields 14 and 15 of the line
            fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def rss_kb(pids: Iterable[int]) -> int:
    """Resident memory of the processes in KB (1,024 bytes)."""
    pages = 0
    for pid in pids:
        with suppress(*GONE):
            pages += int((PROC / str(pid) / "statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024
