"""Organisers who act at the same moment: each is told what came of its own request."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier, Thread

import pytest
from pymongo.client_session import ClientSession
from webhouse import CONTESTS, House

from battlebot.api.concurrency import CHANGES, CHANGES_WAIT_S
from battlebot.api.context import CONTEXT_KEY
from battlebot.cli.rest import TIMEOUT_S
from battlebot.contests.contest import Contest
from battlebot.storage.contests import Contests
from battlebot.storage.mongo import WITHIN_S

MANY = 20


def test_who_takes_a_match_back_is_told_what_that_made(home: House) -> None:
    """Like all who change a contest: not what another organiser, who cancels it, makes of it a moment later."""
    home.contest("cup", bots=("a", "b"))
    match_id = home.play("a", "b", "a", "cup", n=1)
    home.organise("POST", "/cup/finish")

    def somebody_cancels(game: str, contest: str) -> None:
        home.context.organiser.transition("cancel", game, contest, "somebody at another node")

    # it is asked once the match is taken back, and before there is an answer
    home.context.organiser.ask_pairing = somebody_cancels
    answer = home.organise("POST", f"/cup/games/{match_id}/void", {"reason": "the server's clock"})
    assert (answer.status_code, answer.json["contest"]["state"]) == (200, "running")
    assert home.client.get(f"{CONTESTS}/cup").json["state"] == "cancelled"


def test_many_changes_of_a_contest_are_made_one_after_the_other(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is begun once: all at once, most began anew because of the others until their time was over (503)."""
    home.contest("cup", bots=("a", "b"))
    token = home.storage.tokens.create("ann")
    find, begun, together = Contests.find_to_change, list[str](), Barrier(MANY)

    def noted(contests: Contests, session: ClientSession, game: str, name: str) -> Contest | None:
        begun.append(name)
        return find(contests, session, game, name)

    def change(number: int) -> int:
        together.wait(timeout=60)
        return home.organise("PATCH", "/cup", {"title": f"title {number}"}, token).status_code

    monkeypatch.setattr(Contests, "find_to_change", noted)
    with ThreadPoolExecutor(MANY) as pool:
        assert list(pool.map(change, range(MANY))) == [200] * MANY
    assert begun == ["cup"] * MANY


def test_while_a_store_is_away_nobody_waits_to_change_a_contest(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who changes it waits for the store, for seconds and in vain: one after the other all would wait for a minute."""
    home.contest("cup", bots=("a", "b"))
    limit, away = home.app.extensions[CHANGES], dict[str, float]()
    monkeypatch.setitem(home.app.extensions, CONTEXT_KEY, replace(home.context, away=lambda: away))
    with limit.place("noughtsandcrosses/cup"):
        answers = list[int]()
        waits = Thread(target=lambda: answers.append(home.organise("POST", "/cup/pause").status_code))
        waits.start()
        while len(limit) < 2:
            waits.join(0.001)
        assert answers == []
        away["mongodb"] = 1.0
        waits.join(timeout=20)
        assert answers == [200]
    assert len(limit) == 0


def test_who_waits_to_change_a_contest_is_answered_before_the_command_gives_up() -> None:
    """Else it says that nobody answers, and what it asked for is made afterwards."""
    assert CHANGES_WAIT_S + WITHIN_S < TIMEOUT_S
