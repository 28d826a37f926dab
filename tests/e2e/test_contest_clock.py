"""Contests start and end at their moments, exactly once; also when nothing ran at that moment."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

from cluster import Cluster, wait_for
from desk import Desk, organiser_of


def soon(seconds: float) -> datetime:
    """A moment."""
    return datetime.now(UTC) + timedelta(seconds=seconds)


def run_clocks(parts: Cluster) -> None:
    """Two workers and two beats: more than there should be."""
    for _ in range(2):
        parts.worker()
        parts.beat(sweep_interval_s=0.2)


def kill_clocks(parts: Cluster) -> None:
    """All but the web node."""
    for child in parts.children[1:]:
        child.kill()
    del parts.children[1:]


def sleep_through(moment: datetime) -> None:
    """Until that moment has passed, by a sweep's time and more."""
    wait_for(lambda: datetime.now(UTC) > moment + timedelta(seconds=0.5), "the moment")


def sweeps_go_on(desk: Desk, name: str) -> None:
    """Waits until a contest of that name, made for this, is started by the clock: the sweep has come round again."""
    marker = Desk(desk.web, desk.token, name)
    marker.create(startsAt=soon(0.5).isoformat())
    wait_for(lambda: marker.state() == "running", f"{name} to be started", 60)


def test_a_start_and_an_end_that_were_slept_through_happen_once(parts: Cluster) -> None:
    """Nothing runs at either moment; then two workers and two beats wake up at once."""
    web = parts.web()
    desk = Desk(web, organiser_of(parts.settings))
    missed = Desk(web, desk.token, "missed")
    desk.create(startsAt=soon(0.5).isoformat())
    missed.create(startsAt=soon(0.5).isoformat(), endsAt=soon(1).isoformat())
    sleep_through(soon(1))
    assert (desk.state(), missed.state()) == ("scheduled", "scheduled")
    run_clocks(parts)
    wait_for(lambda: desk.state() == "running", "the start", 60)
    wait_for(missed.finished, "the start and the end of the contest of which nothing is left", 60)
    kill_clocks(parts)
    ends = soon(0.5)
    desk.ask("PATCH", "/cup", {"endsAt": ends.isoformat()})
    sleep_through(ends)
    assert desk.state() == "running"
    run_clocks(parts)
    wait_for(desk.finished, "the end", 60)
    for name in ("one", "two"):
        sweeps_go_on(desk, name)
    assert Counter(desk.actions()) == {
        ("create", "organiser"): 1,
        ("change", "organiser"): 1,
        ("start", "clock"): 1,
        ("finish", "clock"): 1,
    }
    assert missed.actions() == [("finish", "clock"), ("start", "clock"), ("create", "organiser")]
    shown = desk.ask("GET", "/cup")
    assert shown["startedAt"] > shown["startsAt"]
    assert shown["endedAt"] > shown["endsAt"]
    assert "Traceback" not in parts.logs()
