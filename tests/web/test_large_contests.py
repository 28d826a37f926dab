"""What the pages read, and send to each viewer, where contests have thousands of bots: no more than they show."""

from __future__ import annotations

import json
import re

import pytest
from cup import cup
from profiled import profiled
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


@pytest.mark.parametrize("path", ["/", WEB])
def test_a_page_that_names_contests_reads_no_lists_of_entrants(home: House, path: str) -> None:
    """It shows fifty contests, each of which may have ten thousand."""
    bots = [f"bot{number:04}" for number in range(1000)]
    for number in range(20):
        home.storage.contests.create(cup(game="noughtsandcrosses", name=f"cup{number}", entrants=bots))
    answer, looks = profiled(home.storage, "contests", lambda: home.client.get(path))
    assert answer.text.count(">cup") == 20
    assert sum(look["responseLength"] for look in looks) < 20 * 1000
