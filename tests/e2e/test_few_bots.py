"""Contests of nobody, of one bot, and of two of one owner."""

from __future__ import annotations

import itertools
import struct

import pytest
from cluster import Cluster, Web, wait_for
from desk import GAME, Desk, organiser_of
from original_client import OriginalClient
from peer import CLOSE, Closed, Peer
from test_contests import first_free, playing

CLOSED = ("round-robin", "swiss", "knockout", "gauntlet")
numbers = itertools.count()


@pytest.fixture(scope="module")
def token(house: tuple[Cluster, Web]) -> str:
    """An organiser's."""
    return organiser_of(house[0].settings)


@pytest.mark.parametrize("form", CLOSED)
@pytest.mark.parametrize("entrants", [0, 1])
def test_a_closed_contest_with_nobody_to_meet_is_over_at_once(
    house: tuple[Cluster, Web], token: str, form: str, entrants: int
) -> None:
    """By itself, without a match; who entered is ranked, with no points."""
    desk = Desk(house[1], token, f"few{next(numbers)}")
    bots = [house[1].register(f"lonely{next(numbers)}")["bot_id"] for _ in range(entrants)]
    desk.create(format=form, entrants=bots, meetings=1)
    desk.ask("POST", f"/{desk.contest}/start", {})
    wait_for(desk.finished, "the end")
    assert desk.actions()[0] == ("finish", "contest")
    shown = [(bot, row["rank"], row["score"], row["played"]) for bot, row in desk.ranking().items()]
    assert shown == [(bot, 1, 0, 0) for bot in bots]
    assert desk.ask("GET", f"/{desk.contest}/crosstable")["bots"] == bots
    assert desk.pairs() == []


def test_who_comes_to_a_contest_that_is_over_is_told(house: tuple[Cluster, Web], token: str) -> None:
    """It would wait in silence otherwise; the original's clients know no such message."""
    auth, desk = house[1].register("comes late"), Desk(house[1], token, "bygone")
    desk.create()
    desk.ask("DELETE", "/bygone")
    late, original = Peer(house[1].address), Peer(house[1].address)
    assert late.log_in(auth, contest="bygone", protocol=2)["authentication"] == "OK"
    assert late.message()["code"] == "over"
    assert original.log_in(auth, contest="bygone")["authentication"] == "OK"
    original.frame(CLOSE, struct.pack("!H", 1000))
    with pytest.raises(Closed):
        original.message()


def test_an_open_contest_waits_for_a_second_bot(house: tuple[Cluster, Web], token: str) -> None:
    """With nobody and with one bot it goes on; that one is told why it does not play, and plays when one more comes."""
    desk = Desk(house[1], token, "waiting")
    desk.create(meetings=1)
    desk.ask("POST", "/waiting/start", {})
    clients = []
    for bot in ("first to come", "second to come"):
        clients.append(OriginalClient(house[1].ws, house[1].register(bot), first_free(bot), "waiting", limit_s=600))
    with playing(clients[:1]):
        wait_for(lambda: "first to come" in desk.ranking(), "the bot to be there")
        assert desk.ask("GET", "/waiting/why?bot=first%20to%20come")["code"] == "nobody-left"
        assert desk.state() == "running"
        with playing(clients[1:]):
            wait_for(lambda: len(desk.listed()) == 1, "the match")
            wait_for(lambda: all(client.connections[-1].state is None for client in clients), "both waiting again")
    assert desk.state() == "running"
    assert desk.ask("GET", "/waiting")["progress"] == {"played": 1, "planned": 1, "live": 0}


def test_two_bots_of_one_owner_meet_as_any_two(house: tuple[Cluster, Web], token: str) -> None:
    """All of their meetings: an owner is a note, not a rule."""
    web = house[1]
    auths = [web.request(f"/bots/{GAME}", {"bot_id": f"twin{index}", "owner": "One"})[1] for index in range(2)]
    desk = Desk(web, token, "twins")
    desk.create(format="round-robin", entrants=["twin0", "twin1"], meetings=5)
    desk.ask("POST", "/twins/start", {})
    clients = [OriginalClient(web.ws, auth, first_free(auth["bot_id"]), "twins", limit_s=600) for auth in auths]
    with playing(clients):
        wait_for(desk.finished, "the end")
    (pair,) = desk.pairs()
    assert (pair["played"], pair["absent"], pair["left"]) == (5, 0, 0)
    assert [one["first"] for one in pair["meetings"]] == ["twin1", "twin0"] * 2 + ["twin1"]
