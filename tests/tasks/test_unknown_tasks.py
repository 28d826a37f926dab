"""Tasks that a worker does not know, as a part of another version has sent them."""

from __future__ import annotations

import json
from pathlib import Path

from cluster import cluster, wait_for
from partlogs import errors

from battlebot.config import Settings
from tasks.celeryapp import make_celery


def test_a_worker_leaves_aside_what_only_another_version_knows(settings: Settings, tmp_path: Path) -> None:
    """It says so once a minute for each of them, and no error is logged; nothing of them is left in its queue."""
    celery = make_celery(settings)
    for task in ("tasks.later", "tasks.later", "tasks.earlier"):
        celery.send_task(task, args=["a secret"])
    with cluster(settings, tmp_path) as parts:
        parts.worker()

        def left_aside() -> list[str]:
            events = [json.loads(line) for line in parts.logs().splitlines()]
            return [event["task"] for event in events if event["event"] == "task.unknown"]

        wait_for(lambda: "tasks.earlier" in left_aside(), "the last task", 90)
        assert left_aside() == ["tasks.later", "tasks.earlier"]
        assert errors(parts.logs()) == []
        assert "a secret" not in parts.logs()
