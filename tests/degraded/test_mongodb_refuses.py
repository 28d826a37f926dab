"""A MongoDB that does not let the user of MONGODB_URI in: everything starts, waits, and says why in a line."""

from __future__ import annotations

import json
from dataclasses import replace

from cluster import Cluster, wait_for

from battlebot.config import Settings
from battlebot.doctor.examination import examine
from battlebot.doctor.finding import State, exit_status

REFUSED = "MongoDB refuses the user or the password of MONGODB_URI."


def test_a_wrong_password_is_told_by_every_part_and_no_traceback(parts: Cluster, settings: Settings) -> None:
    """A web node is up and not ready, a worker puts its tasks off; the password is in no log."""
    uri = settings.mongodb_uri.replace("mongodb://", "mongodb://nobody:wr0ng@")
    web = parts.web(mongodb_uri=uri)
    parts.worker(mongodb_uri=uri)
    parts.beat(mongodb_uri=uri)

    def told() -> bool:
        status, answer = web.request("/readyz")
        return status == 503 and answer["mongodb"] == REFUSED

    wait_for(told, "the node to say why it is not ready")
    wait_for(lambda: any(is_put_off(line) for line in parts.logs().splitlines()), "the worker to say why")
    assert web.request("/bots/numberwang", {"bot_id": "somebody"})[0] == 503
    logs = parts.logs()
    assert "Traceback" not in logs
    assert "wr0ng" not in logs
    findings = list(examine(replace(settings, mongodb_uri=uri), list))
    assert exit_status(findings) == 2
    assert [row.sentence for row in findings if row.state == State.AWAY] == [REFUSED]


def is_put_off(line: str) -> bool:
    """Whether a task (the web node has only indexes to put off) names the refusal as the reason for being put off."""
    try:
        row = json.loads(line)
    except ValueError:
        return False
    event = str(row.get("event"))
    return event.endswith("put_off") and event != "indexes.put_off" and row.get("error") == REFUSED
