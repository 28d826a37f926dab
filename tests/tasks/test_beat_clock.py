"""Celery beat and the machine's clock: sweeps are made whatever becomes of the time of day."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from cluster import wait_for

from battlebot.config import Settings
from tasks.celeryapp import make_celery
from tasks.ticking import PatientScheduler


def test_sweeps_go_on_when_the_clock_is_set_back(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By an hour, as NTP does where a machine began with a wrong time; otherwise none would be made in that hour."""
    celery = make_celery(replace(settings, sweep_interval_s=0.05))
    sent: list[str] = []

    class Noting(PatientScheduler):
        def apply_entry(self, entry: Any, producer: Any = None) -> None:
            sent.append(entry.name)

    beat = Noting(app=celery, schedule_filename=str(tmp_path / "schedule"))

    def is_swept() -> bool:
        beat.tick()
        return {"sweep matches", "tidy matches", "sweep contests", "sweep ratings"} <= set(sent)

    try:
        wait_for(is_swept, "the first sweeps")
        now = celery.now
        monkeypatch.setattr(celery, "now", lambda: now() - timedelta(hours=1))
        sent.clear()
        wait_for(is_swept, "sweeps after that")
    finally:
        beat.close()
