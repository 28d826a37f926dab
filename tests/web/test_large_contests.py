"""What the pages read, and send to each viewer, where contests have thousands of bots: no more than they show."""

from __future__ import annotations

import json
import re

import pytest
from webhouse import House

from battlebot.web import snapshots

WEB = "/web/noughtsandcrosses"


def test_an_event_has_the_bots_that_the_page_shows(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each viewer is sent one whenever a match ends."""
    monkeypatch.setattr(snapshots, "MOST_RANKED", 2)
    home.contest("cup", bots=("a", "b", "c"))
    answer = home.client.get(f"{WEB}/contests/cup/events", buffered=False)
    found = re.search(r"^data: (.*)$", next(answer.iter_encoded()).decode(), re.MULTILINE)
    answer.close()
    assert found
    assert [row["bot_id"] for row in json.loads(found[1])["bots"]] == ["a", "b"]
