"""Celery beat where nothing can be written: its ticks are sent all the same."""

from __future__ import annotations

import resource
import subprocess
from pathlib import Path
from typing import Any

from cluster import wait_for

from battlebot.config import Settings
from battlebot.embedded.commands import beat_command, environment
from battlebot.redisio.connection import connect
from battlebot.redisio.tasklists import TaskLists


def _nothing_can_be_written() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_on_a_full_disk_ticks_are_sent(settings: Settings, tmp_path: Path) -> None:
    """Each is sent again soon, so that beat need not remember any; its file is touched, which takes no room."""
    schedule = tmp_path / "celerybeat-schedule"
    client = connect(settings.redis_url)
    beat = subprocess.Popen(
        beat_command(schedule),
        env=environment(settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=_nothing_can_be_written,
    )
    try:
        wait_for(lambda: beat.poll() is not None or _waiting(client), "a tick")
        assert beat.poll() is None
        assert schedule.read_bytes() == b""
    finally:
        beat.terminate()
        out = beat.communicate(timeout=30)[0].decode()
        client.close()
    assert "Traceback" not in out


def test_where_it_may_not_even_touch_its_file_it_says_so(settings: Settings, tmp_path: Path) -> None:
    """And goes on."""
    client = connect(settings.redis_url)
    beat = subprocess.Popen(
        beat_command(tmp_path / "removed" / "celerybeat-schedule"),
        env=environment(settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        wait_for(lambda: beat.poll() is not None or _waiting(client), "a tick")
    finally:
        beat.terminate()
        out = beat.communicate(timeout=30)[0].decode()
        client.close()
    assert "beat.no_sign_of_life" in out
    assert "Traceback" not in out


def _waiting(client: Any) -> int:
    return sum(TaskLists(client, TaskLists.QUEUE).length(priority) for priority in TaskLists.PRIORITIES)
