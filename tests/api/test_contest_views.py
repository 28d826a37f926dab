"""Looking at a contest over REST: ranking with tie-breaks, meetings, why, crosstable, void matches."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from profiled import profiled
from records import reserve
from webhouse import CONTESTS, House

from battlebot.api.longmatches import joined
from battlebot.arena.places import ticket_of
from battlebot.contests.service import lookout
from battlebot.matchmaking.missing import Chance, Missing
from battlebot.redisio import keys
from battlebot.storage.meetings import Meeting

GAME = "noughtsandcrosses"
VIEWS = import_module("battlebot.api.contests")  # the package has a blueprint of that name


def closed(home: House, *bots: str, **fields: Any) -> None:
    """A round-robin of these bots, running."""
    home.register(*bots)
    body = {"name": "cup", "format": "round-robin", "entrants": list(bots), "meetings": 2, **fields}
    assert home.organise("POST", "", body).status_code == 201
    assert home.organise("POST", f"/{body['name']}/start").status_code == 200


def absent(home: House, first: str, second: str, victor: str | None, n: int = 1) -> None:
    """A meeting that did not take place."""
    contest = home.storage.contests.find(GAME, "cup")
    assert contest is not None
    meeting = Meeting(f"absent{first}{second}{n}", [first, second], n, round=1)
    assert home.storage.ledger.absent(contest, meeting, victor)


def wait(home: House, *bots: str) -> None:
    """Puts bots into the contest's queue."""
    queue = keys.queue(keys.queue_name(GAME, "cup"))
    home.redis.zadd(queue, {ticket_of(f"node/{bot}", bot): 1 for bot in bots})


def why(home: House, bot: str) -> dict[str, Any]:
    """The answer about a bot."""
    return home.client.get(f"{CONTESTS}/cup/why", query_string={"bot": bot}).json


def test_the_ranking_has_its_tie_breaks(home: House) -> None:
    """Level on points, wins and losses: Sonneborn-Berger, then head-to-head; entrants that never came stand in it."""
    closed(home, "a", "b", "c", "d", points={"win": 2})
    home.play("a", "c", "a", "cup", n=1)
    home.play("b", "d", "b", "cup", n=1)
    home.play("c", "d", "c", "cup", n=1)
    answer = home.client.get(f"/games/{GAME}/contest/cup").json
    assert answer["contest"]["points"] == {"win": 2, "draw": 1, "loss": 0}
    rows = [(r["rank"], r["bot_id"], r["score"], r["tieBreaks"]["sonnebornBerger"]) for r in answer["bots"]]
    assert rows == [(1, "a", 2, 2), (2, "b", 2, 0), (3, "c", 2, 0), (4, "d", 0, 0)]
    assert answer["bots"][1]["tieBreaks"]["headToHead"] == []


def test_a_shared_rank_is_shown_so(home: House) -> None:
    """1, 1, 3: with the points among one another."""
    closed(home, "a", "b", "c")
    home.play("a", "b", None, "cup", n=1)
    home.play("a", "c", "a", "cup", n=1)
    home.play("c", "b", "b", "cup", n=1)
    rows = home.client.get(f"/games/{GAME}/contest/cup").json["bots"]
    assert [(row["rank"], row["bot_id"], row["tieBreaks"]) for row in rows] == [
        (1, "a", {"sonnebornBerger": 2, "headToHead": [1]}),
        (1, "b", {"sonnebornBerger": 2, "headToHead": [1]}),
        (3, "c", {"sonnebornBerger": 0, "headToHead": []}),
    ]


def test_absences_are_counted_apart(home: House) -> None:
    """A loss for whoever did not come; a meeting nobody came to is one for both."""
    closed(home, "a", "b")
    absent(home, "a", "b", "a", 1)
    absent(home, "b", "a", None, 2)
    rows = home.client.get(f"/games/{GAME}/contest/cup").json["bots"]
    assert [(r["bot_id"], r["score"], r["losses"], r["absent"], r["played"]) for r in rows] == [
        ("a", 3, 1, 1, 2),
        ("b", 0, 2, 2, 2),
    ]
    assert home.client.get(f"{CONTESTS}/cup").json["progress"] == {"played": 2, "planned": 2, "live": 0}


def test_byes_score(home: House) -> None:
    """In a swiss of three, whoever sits out gets a win's points without a game."""
    closed(home, "a", "b", "c", format="swiss", config={"rounds": 1}, meetings=1)
    document = home.play("a", "b", "a", "cup", n=1)
    home.storage.database["meetings"].update_one({"_id": document}, {"$set": {"round": 1}})
    rows = home.client.get(f"/games/{GAME}/contest/cup").json["bots"]
    assert [(row["bot_id"], row["score"], row["byes"]) for row in rows] == [("a", 3, 0), ("c", 3, 1), ("b", 0, 0)]


def test_a_knockout_names_its_winner(home: House) -> None:
    """As soon as there is one."""
    closed(home, "a", "b", format="knockout", meetings=1)
    assert home.client.get(f"{CONTESTS}/cup").json["progress"]["winner"] is None
    document = home.play("a", "b", "b", "cup", n=1)
    home.storage.database["meetings"].update_one({"_id": document}, {"$set": {"round": 1}})
    assert home.client.get(f"{CONTESTS}/cup").json["progress"] == {"played": 1, "planned": 1, "live": 0, "winner": "b"}


def test_a_knockouts_winner_need_not_lead_its_ranking(home: House) -> None:
    """Of three, best of three: who passed the first round without a pair has won less often than who lost the last."""
    closed(home, "a", "b", "c", format="knockout", meetings=3)
    rounds = [(1, "b", "c", "b", 1), (1, "c", "b", "b", 2), (2, "a", "b", "a", 1), (2, "b", "a", "b", 2)]
    for number, first, second, victor, n in [*rounds, (2, "a", "b", "a", 3)]:
        document = home.play(first, second, victor, "cup", n=n)
        home.storage.database["meetings"].update_one({"_id": document}, {"$set": {"round": number}})
    assert home.client.get(f"/games/{GAME}/contest/cup").json["bots"][0]["bot_id"] == "b"
    assert home.client.get(f"{CONTESTS}/cup").json["progress"]["winner"] == "a"


def test_void_matches_are_shown_on_demand(home: House) -> None:
    """Page by page too; anything else than true or false is refused."""
    home.contest("cup", bots=("a", "b"))
    void = home.play("a", "b", "a", "cup", fault="server")
    counted = home.play("a", "b", "a", "cup")
    path = f"/games/{GAME}/contest/cup"
    assert [game["_id"] for game in home.client.get(path).json["games"]] == [counted]
    page = home.client.get(f"{path}?void=true&limit=1").json
    assert [game["_id"] for game in page["games"]] == [counted]
    assert [game["_id"] for game in home.client.get(page["next"]).json["games"]] == [void]
    assert home.client.get(f"{path}?void=yes").json["field"] == "void"


def test_a_list_that_was_shown_before_follows_what_has_changed(home: House) -> None:
    """Matches' JSON is kept: what is new comes in front, what became void goes, the rest is as it is alone."""
    home.contest("cup", bots=("a", "b"))
    path = f"/games/{GAME}/contest/cup"
    first = home.play("a", "b", "a", "cup")
    assert home.client.get(path).json["games"] == home.client.get(f"{path}?void=true").json["games"]
    second = home.play("a", "b", "b", "cup")
    assert [game["_id"] for game in home.client.get(path).json["games"]] == [second, first]
    assert home.client.get(path).json["games"] == home.client.get(f"{path}?void=true").json["games"]
    home.organise("POST", f"/cup/games/{first}/void", {"reason": "a test"})
    assert [game["_id"] for game in home.client.get(path).json["games"]] == [second]


def test_the_page_of_a_contests_matches_is_found_by_the_index_alone(home: House) -> None:
    """Of a million matches no more than the page is looked at, and no document."""
    home.contest("cup", bots=("a", "b"))
    home.play("a", "b", "a", "cup")
    numbers, looks = profiled(home.storage, "games", lambda: home.storage.games.numbers(GAME, "cup", 1000, None))
    assert (len(numbers), sum(look["docsExamined"] for look in looks)) == (1, 0)


def test_absences_that_count_for_nobody_are_over_all_the_same(home: House) -> None:
    """Nobody's standing moves; the contest is played as far as it is planned."""
    closed(home, "a", "b", "c", absentCounts="void", meetings=1)
    absent(home, "a", "b", "a")
    absent(home, "a", "c", None)
    home.play("b", "c", "b", "cup", n=1)
    assert home.client.get(f"{CONTESTS}/cup").json["progress"] == {"played": 3, "planned": 3, "live": 0}
    rows = home.client.get(f"/games/{GAME}/contest/cup").json["bots"]
    assert {row["bot_id"]: row["played"] for row in rows} == {"a": 0, "b": 1, "c": 1}


def test_the_meetings_of_a_stranger_are_refused(home: House) -> None:
    """By its name; those of a bot that has not met anybody yet are not."""
    home.contest("cup", bots=("a", "b"))
    closed(home, "c", "d", name="closed")
    for path in (f"{CONTESTS}/cup/meetings", f"{CONTESTS}/closed/meetings"):
        answer = home.client.get(path, query_string={"bot": "nobody"})
        assert (answer.status_code, answer.json["field"], answer.json["rule"]) == (400, "bot", "known")
    assert home.client.get(f"{CONTESTS}/cup/meetings?bot=a").json["pairs"][0]["left"] == 5
    assert home.client.get(f"{CONTESTS}/closed/meetings?bot=d").status_code == 200


def test_challengers_of_a_gauntlet_have_nothing_left(home: House) -> None:
    """They do not meet one another."""
    closed(home, "a", "b", "c", format="gauntlet")
    pairs = home.client.get(f"{CONTESTS}/cup/meetings").json["pairs"]
    assert {"".join(pair["bots"]): pair["left"] for pair in pairs} == {"ab": 2, "ac": 2, "bc": 0}


def test_the_meetings_of_all_pairs(home: House) -> None:
    """Played, left, and who moved first; the rounds with what is due."""
    closed(home, "a", "b", "c")
    match_id = home.play("b", "a", "a", "cup", n=1)
    home.storage.database["meetings"].update_one({"_id": match_id}, {"$set": {"round": 1}})
    answer = home.client.get(f"{CONTESTS}/cup/meetings").json
    pairs = {"".join(pair["bots"]): pair for pair in answer["pairs"]}
    assert {name: (pair["played"], pair["left"]) for name, pair in pairs.items()} == {
        "ab": (1, 1),
        "ac": (0, 2),
        "bc": (0, 2),
    }
    meeting = {"match": match_id, "n": 1, "round": 1, "first": "b", "state": "played", "victor": "a"}
    assert pairs["ab"]["meetings"] == [meeting]
    assert {"bots": ["b", "a"], **meeting} in answer["rounds"][0]["meetings"]
    assert any(one["state"] == "due" for number in answer["rounds"] for one in number["meetings"])
    of_c = home.client.get(f"{CONTESTS}/cup/meetings?bot=c").json["pairs"]
    assert [pair["bots"] for pair in of_c] == [["c", "a"], ["c", "b"]]


def test_a_large_contest_asks_whose_meetings(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond so many bots a table of all pairs helps nobody."""
    monkeypatch.setattr(lookout, "MOST_BOTS", 2)
    home.contest("cup", bots=("a", "b", "c"))
    answer = home.client.get(f"{CONTESTS}/cup/meetings")
    assert (answer.status_code, answer.json["field"]) == (400, "bot")
    assert len(home.client.get(f"{CONTESTS}/cup/meetings?bot=a").json["pairs"]) == 2


def test_the_crosstable(home: House) -> None:
    """Best first, each against whom it met; of many bots the best."""
    home.contest("cup", bots=("a", "b", "c"))
    home.play("a", "b", "a", "cup")
    home.play("b", "a", None, "cup")
    home.play("c", "b", "b", "cup")
    answer = home.client.get(f"{CONTESTS}/cup/crosstable").json
    assert answer["bots"] == ["a", "b", "c"]
    against = {row["bot_id"]: row["against"] for row in answer["rows"]}
    assert against == {
        "a": {"b": {"wins": 1, "draws": 1, "losses": 0}},
        "b": {"a": {"wins": 0, "draws": 1, "losses": 1}, "c": {"wins": 1, "draws": 0, "losses": 0}},
        "c": {"b": {"wins": 0, "draws": 0, "losses": 1}},
    }
    assert len(home.client.get(f"{CONTESTS}/cup/crosstable?limit=2").json["rows"]) == 2


def test_why_in_a_closed_contest(home: House) -> None:
    """From a stranger to the one that is playing."""
    closed(home, "a", "b", "c")
    home.register("stranger")
    assert why(home, "nobody")["code"] == "not-registered"
    assert why(home, "stranger")["code"] == "not-an-entrant"
    assert why(home, "a")["code"] == "not-connected"
    contest = home.storage.contests.find(GAME, "cup")
    assert contest is not None
    for now_s in (1_700_000_000, 1_700_000_004):
        Missing(home.redis).note(GAME, "cup", contest.run, {"a": Chance(now_s)}, now_s, 5.0)
    assert why(home, "a")["since"] == "2023-11-14T22:13:20.000Z"
    wait(home, "a")
    assert (why(home, "a")["code"], why(home, "a")["left"]) == ("all-away", ["b", "c"])
    wait(home, "b")
    assert why(home, "a")["code"] == "pairing-soon"
    match = home.begin("b", "c", contest="cup")
    reserve(home.storage, GAME, "cup", [{"match": match.id, "bots": ["b", "c"], "n": 1}])
    home.redis.delete(keys.queue(keys.queue_name(GAME, "cup")))
    wait(home, "a")
    assert why(home, "a")["code"] == "all-busy"
    assert (why(home, "b")["code"], why(home, "b")["match"]) == ("playing", match.id)
    home.organise("POST", "/cup/pause")
    assert why(home, "a")["code"] == "paused"
    home.organise("POST", "/cup/finish")
    assert why(home, "a")["code"] == "over"
    assert home.client.get(f"{CONTESTS}/cup/why").json["field"] == "bot"


def test_why_reads_the_matches_of_its_contest_alone(home: House) -> None:
    """There may be thousands of others, and anybody may ask."""

    def reads() -> int:
        home.redis.config_resetstat()
        assert why(home, "a")["match"] == match.id
        return int(home.redis.info("commandstats")["cmdstat_hget"]["calls"])

    closed(home, "a", "b")
    match = home.begin("a", "b", contest="cup")
    reserve(home.storage, GAME, "cup", [{"match": match.id, "bots": ["a", "b"], "n": 1}])
    alone = reads()
    home.begin("c", "d")
    assert reads() == alone


def test_why_between_two_rounds(home: House) -> None:
    """Its own pairing is over, the other one is not, and there is a round to come."""
    closed(home, "a", "b", "c", "d", format="swiss", config={"rounds": 2}, meetings=1)
    due = home.client.get(f"{CONTESTS}/cup/meetings").json["rounds"][0]["meetings"]
    first, second = due[0]["bots"]
    match_id = home.play(first, second, first, "cup", n=1)
    home.storage.database["meetings"].update_one({"_id": match_id}, {"$set": {"round": 1}})
    assert why(home, first)["code"] == "waiting-for-round"


def test_why_in_an_open_contest(home: House) -> None:
    """Whoever has entered may be met, until so often."""
    home.register("a", "b")
    home.contest("cup", bots=("a", "b"), meetings=1)
    wait(home, "a", "b")
    assert why(home, "a")["code"] == "pairing-soon"
    home.play("a", "b", "a", "cup", n=1)
    assert (why(home, "a")["code"], why(home, "a")["sentence"]) == ("nobody-left", "a has nobody left to meet.")


def test_why_in_an_open_contest_with_a_list(home: House) -> None:
    """Whoever is on the list may be met, also before it comes."""
    closed(home, "a", "b", "c", format="open", config={})
    assert (why(home, "a")["code"], why(home, "a")["left"]) == ("not-connected", ["b", "c"])
    wait(home, "a")
    assert why(home, "a")["code"] == "all-away"
    home.organise("DELETE", "/cup/entrants/c")
    assert why(home, "a")["left"] == ["b"]


def test_who_is_not_in_an_open_contest_has_nobody_left_in_it(home: House) -> None:
    """Neither a stranger, nor one that has not come, nor one that was withdrawn."""
    home.register("a", "b", "c", "late")
    home.contest("cup", bots=("a", "b", "c"))
    assert why(home, "a")["left"] == ["b", "c"]
    home.organise("DELETE", "/cup/entrants/c")
    found = {bot: (why(home, bot)["code"], why(home, bot)["left"]) for bot in ("nobody", "late", "c")}
    assert found == {"nobody": ("not-registered", []), "late": ("not-an-entrant", []), "c": ("withdrawn", [])}


def test_why_of_one_that_was_withdrawn_or_comes_too_early(home: House) -> None:
    """The contest's start is told."""
    home.register("a", "b")
    body = {"name": "cup", "format": "round-robin", "entrants": ["a", "b"], "startsAt": "2126-12-01T10:00:00Z"}
    home.organise("POST", "", body)
    assert "2126-12-01T10:00:00.000Z" in why(home, "a")["sentence"]
    home.organise("DELETE", "/cup/entrants/a")
    assert why(home, "a")["code"] == "withdrawn"


def test_what_withdrew_is_not_planned(home: House) -> None:
    """What it has played stays in the count."""
    home.register("a", "b", "c")
    home.contest("cup", bots=("a", "b", "c"), meetings=3)
    home.play("a", "c", "a", "cup")
    assert home.client.get(f"{CONTESTS}/cup").json["progress"]["planned"] == 9
    home.organise("DELETE", "/cup/entrants/c")
    assert home.client.get(f"{CONTESTS}/cup").json["progress"] == {"played": 1, "planned": 4, "live": 0}


@pytest.mark.parametrize("path", ["", "/audit", "/meetings", "/why?bot=a", "/crosstable", "/export.csv", "/events"])
def test_of_what_is_not_there_404(home: House, path: str) -> None:
    """Of an unknown contest, and of an unknown game."""
    assert home.client.get(f"{CONTESTS}/none{path}").json["code"] == "unknown-contest"
    assert home.client.get(f"/games/chess/contests/none{path}").json["code"] == "unknown-game"


def test_the_meetings_of_many_bots_are_made_into_json_part_by_part(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two hundred bots they are 25 MB. The answer is the same."""
    closed(home, "a", "b", "c", "d")
    home.play("a", "b", "a", "cup", n=1)
    whole = home.client.get(f"{CONTESTS}/cup/meetings").json
    parts = list[int]()
    monkeypatch.setattr(VIEWS, "AT_ONCE", 2)
    monkeypatch.setattr(VIEWS, "joined", lambda rows, dumps: joined(counted(rows, parts), dumps))
    answer = home.client.get(f"{CONTESTS}/cup/meetings")
    assert answer.json == whole
    assert answer.mimetype == "application/json"
    assert max(parts) == 2
    assert sum(parts) == len(whole["pairs"]) + len(whole["rounds"])


def counted(rows: Iterator[list[Any]], parts: list[int]) -> Iterator[list[Any]]:
    """The same, with the length of each noted."""
    for part in rows:
        parts.append(len(part))
        yield part
