"""Large answers that nobody reads: a node keeps so many bytes of them, in all and for one address."""

from __future__ import annotations

import pytest
from webhouse import House

from battlebot.api import unread
from battlebot.api.unread import EXTENSION, Unread

BOTS = "/bots/numberwang"
BOTS_OF_THREE = "/bots/noughtsandcrosses"


@pytest.mark.parametrize(
    ("sent", "wanted", "may"),
    [
        ([("a", 6)], ("a", 4), True),
        ([("a", 6)], ("a", 5), False),
        ([("a", 6)], ("b", 9), True),
        ([("a", 9), ("b", 9), ("c", 9)], ("d", 4), False),
        ([("a", 9), ("b", 9), ("c", 4)], ("c", 1), True),
        ([("a", 9), ("b", 9), ("c", 5)], ("c", 2), False),
        ([], ("a", 99), True),
    ],
)
def test_each_has_so_many_bytes_and_all_together_too(
    sent: list[tuple[str, int]], wanted: tuple[str, int], may: bool
) -> None:
    """Ten of one, thirty in all; one answer may always be sent, and what was read counts no longer."""
    kept = Unread(most=30, most_of_one=10)
    for key, size in sent:
        assert kept.take(key, size)
    assert kept.take(*wanted) is may
    if may:
        kept.give_back(*wanted)
    for key, size in sent:
        kept.give_back(key, size)
    assert kept.take("c", 30)


def test_a_few_who_do_not_read_keep_nobody_else_out() -> None:
    """Whoever has some leaves as much free: four addresses that take all they get would have had everything."""
    kept = Unread()
    few = [f"192.0.2.{number}" for number in range(8)]
    while True in [kept.take(key, 100_000) for key in few]:
        pass
    assert kept.take("198.51.100.1", 10_000_000)


def test_who_does_not_read_large_answers_gets_no_more_of_them(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """But small ones; others do; and whoever has read may ask again."""
    for number in range(3):
        assert home.client.post(BOTS, json={"bot_id": f"bot{number}"}).status_code == 201
    size = len(home.client.get(BOTS).data)
    monkeypatch.setattr(unread, "LARGE", size - 1)
    home.app.extensions[EXTENSION] = Unread(most=5 * size, most_of_one=2 * size)
    unread_answers = [home.client.get(BOTS, buffered=False) for _ in range(2)]
    assert [answer.status_code for answer in unread_answers] == [200, 200]
    refused = home.client.get(BOTS)
    assert (refused.status_code, refused.json["code"], refused.headers["Retry-After"]) == (503, "unavailable", "2")
    assert refused.headers["Access-Control-Allow-Origin"] == "*"
    assert home.client.head(BOTS).status_code == home.client.get("/games/numberwang").status_code == 200
    assert home.client.get(BOTS, environ_base={"REMOTE_ADDR": "192.0.2.1"}).status_code == 200
    for answer in unread_answers:
        answer.close()
    assert home.client.get(BOTS).status_code == 200


def test_a_large_answer_is_sent_in_parts(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has its own time to be read: on a slow line, all of a list of megabytes takes longer than that."""
    home.register("a", "b", "c")
    whole = home.client.get(BOTS_OF_THREE)
    monkeypatch.setattr(unread, "LARGE", 50)
    answer = home.client.get(BOTS_OF_THREE, buffered=False)
    parts = list(answer.iter_encoded())
    answer.close()
    assert max(map(len, parts)) == 50
    assert b"".join(parts) == whole.data
    assert answer.content_length == whole.content_length


def test_who_has_changed_something_is_told_so(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of entrants is long, too, but "try again later" would say that nothing was changed."""
    home.register("a", "b")
    body = {"name": "cup", "format": "round-robin", "entrants": ["a"], "meetings": 1}
    assert home.organise("POST", "", body).status_code == 201
    monkeypatch.setattr(unread, "LARGE", 50)
    home.app.extensions[EXTENSION] = Unread(most=1, most_of_one=1)
    held = home.client.get(BOTS_OF_THREE, buffered=False)
    assert home.client.get(BOTS_OF_THREE).status_code == 503
    answer = home.organise("POST", "/cup/entrants", {"bots": ["b"]})
    held.close()
    assert (answer.status_code, answer.json["entrants"]) == (200, ["a", "b"])
