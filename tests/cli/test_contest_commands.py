"""`battlebot contest` as an organiser uses it, against a running server: a web node, a worker and beat."""

from __future__ import annotations

import csv
import json
import socket
import subprocess
from pathlib import Path

import pytest
from cluster import Cluster, Web
from organisers import GAME, Run, complaint, new_bots, playing, said

from battlebot.storage import Storage


def test_a_contest_is_scheduled_listed_and_shown(contest: Run, house: tuple[Cluster, Web], tmp_path: Path) -> None:
    """With every field as it was given."""
    bots = [bot.bot_id for bot in new_bots(house[1], 3)]
    (tmp_path / "entrants.txt").write_text("\n".join(bots))
    line = said(
        contest(
            *("create", GAME, "planned", "--title", "The [b]plan[/b]", "--format", "round-robin", "--meetings", "3"),
            *("--entrants-file", "entrants.txt", "--starts", "2030-12-01T10:00Z", "--ends", "2030-12-02T10:00+01:00"),
            *("--turn-timeout", "1500", "--points", "2,1,0", "--absent-after", "30", "--absent-counts", "void"),
        )
    )
    assert line.startswith("planned: scheduled, round-robin, starts 2030-12-01T10:00:00")
    assert line.endswith("3 meetings a pair, 3 entrants")
    shown = json.loads(said(contest("show", GAME, "planned", "--json")))
    expected = {
        "name": "planned",
        "title": "The [b]plan[/b]",
        "state": "scheduled",
        "format": "round-robin",
        "meetings": 3,
        "entrants": bots,
        "startsAt": "2030-12-01T10:00:00.000Z",
        "endsAt": "2030-12-02T09:00:00.000Z",
        "turnTimeoutMs": 1500,
        "points": {"win": 2, "draw": 1, "loss": 0},
        "absentAfterS": 30,
        "absentCounts": "void",
    }
    assert {field: shown[field] for field in expected} == expected
    assert "title:          The [b]plan[/b]" in said(contest("show", GAME, "planned"))
    taken_away = ("--starts", "none", "--ends", "none", "--turn-timeout", "none")
    changed = json.loads(said(contest("change", GAME, "planned", *taken_away, "--json")))
    assert {field: changed[field] for field in expected} == {
        **expected,
        "startsAt": None,
        "endsAt": None,
        "turnTimeoutMs": None,
    }
    listed = json.loads(said(contest("list", GAME, "--state", "scheduled", "--json")))
    assert [one["name"] for one in listed] == ["planned"]
    rows = [line.split("\t") for line in said(contest("list", GAME)).splitlines()]
    assert rows[0][:3] == ["name", "title", "state"]
    assert ["planned", "The [b]plan[/b]", "scheduled"] in [row[:3] for row in rows]


def test_only_a_new_contest_has_defaults(contest: Run) -> None:
    """What `change` is not told stays as it is."""
    assert "Default: open." in contest("create", "--help").stdout
    assert "Default" not in contest("change", "--help").stdout


def test_a_contest_goes_through_its_states(contest: Run, house: tuple[Cluster, Web]) -> None:
    """Each command says where it is; what its state does not allow is refused."""
    one, two, late = (bot.bot_id for bot in new_bots(house[1], 3))
    said(contest("create", GAME, "states", "--format", "round-robin", "--entrants", f"{one},{two}"))
    assert said(contest("enter", GAME, "states", late)).endswith("3 entrants")
    for command, state in (("start", "running"), ("pause", "paused"), ("resume", "running")):
        assert said(contest(command, GAME, "states")).startswith(f"states: {state}, ")
    assert said(contest("withdraw", GAME, "states", late)).endswith("1 withdrawn")
    assert said(contest("finish", GAME, "states")).startswith("states: finished, ")
    assert complaint(contest("start", GAME, "states"), 1).endswith("(wrong-state)")
    said(contest("create", GAME, "off"))
    assert said(contest("cancel", GAME, "off")).startswith("off: cancelled, ")
    assert said(contest("watch", GAME, "off")).startswith("off: cancelled, ")


def test_a_contest_is_watched_exported_voided_and_recounted(
    contest: Run, house: tuple[Cluster, Web], battlebot: Run, tmp_path: Path
) -> None:
    """From its start to its end, and what an organiser does afterwards."""
    parts, web = house
    bots = new_bots(web, 3)
    entrants = ",".join(bot.bot_id for bot in bots)
    said(contest("create", GAME, "cup", "--format", "round-robin", "--meetings", "1", "--entrants", entrants))
    said(contest("start", GAME, "cup"))
    with playing(web, bots, "cup", 2):
        lines = said(contest("watch", GAME, "cup")).splitlines()
    assert "cup: finished, 3 of 3 played" in lines
    rows = [line.split("\t") for line in lines[-4:]]
    assert rows[0] == ["rank", "bot_id", "score", "played", "wins", "draws", "losses"]
    assert {row[1] for row in rows[1:]} == {bot.bot_id for bot in bots}
    assert {row[3] for row in rows[1:]} == {"2"}

    said(contest("export", GAME, "cup", "-o", "cup.ndjson"))
    games = [json.loads(line) for line in (tmp_path / "cup.ndjson").read_text().splitlines()]
    assert sorted(len(game["turns"]) > 4 for game in games) == [True] * 3
    table = list(csv.DictReader(said(contest("export", GAME, "cup")).splitlines()))
    assert {row["match"] for row in table} == {game["_id"] for game in games}
    assert not list(tmp_path.glob(".*part"))

    assert complaint(contest("void", GAME, "cup", "no-such", "--reason", "why not"), 1).endswith("(unknown-match)")
    assert contest("void", GAME, "cup", games[0]["_id"]).returncode == 2, "a reason must be given"
    assert said(contest("void", GAME, "cup", games[0]["_id"], "--reason", "a cable")) == f"{games[0]['_id']} is void."
    assert json.loads(said(contest("show", GAME, "cup", "--json")))["state"] == "running"
    audit = web.request(f"/games/{GAME}/contests/cup/audit")[1]
    assert "a cable" in json.dumps(audit)

    def recompute(*words: str) -> subprocess.CompletedProcess[str]:
        return battlebot("contest", "recompute", GAME, "cup", *words, MONGODB_URI=parts.settings.mongodb_uri)

    assert said(recompute()) == "cup: the standings are what the stored matches make."
    storage = Storage(parts.settings)
    query = {"game": GAME, "contest": "cup", "bot_id": bots[0].bot_id}
    storage.database["standings"].update_one(query, {"$inc": {"wins": 7}})
    storage.close()
    for _ in range(2):
        wrong = recompute()
        assert (wrong.returncode, wrong.stderr) == (1, "")
        assert wrong.stdout.startswith(f"  {bots[0].bot_id}: kept ")
        assert "1 row differs, left as they are" in wrong.stdout
    assert "1 row differs, mended." in said(recompute("--mend"))
    assert said(recompute()) == "cup: the standings are what the stored matches make."


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (("show", GAME, "no such"), 1, "(unknown-contest)"),
        (("watch", GAME, "no such"), 1, "(unknown-contest)"),
        (("export", GAME, "no such", "-o", "x.csv"), 1, "(unknown-contest)"),
        (("list", "chess"), 1, "(unknown-game)"),
        (("create", GAME, "x", "--meetings", "6"), 1, "(bad-message)"),
        (("create", GAME, "x", "--format", "no"), 1, "no contest format 'no'"),
        (("create", GAME, "x", "--format", "round-robin"), 1, "needs a list of entrants"),
        (("create", GAME, "a/b"), 1, "(bad-name)"),
        (("create", GAME, "x", "--option", "size=15"), 1, "size"),
        (("create", GAME, "x", "--starts", "tomorrow"), 2, "is no moment"),
        (("create", GAME, "x", "--option", "size"), 2, "is not key=value"),
        (("create", GAME, "x", "--entrants", "a", "--entrants-file", "/dev/null"), 2, "not both"),
    ],
)
def test_what_is_refused_is_told(
    words: tuple[str, ...], status: int, sentence: str, contest: Run, tmp_path: Path
) -> None:
    """Status 1 by the server, 2 by the command; never a traceback, and no file is begun."""
    finished = contest(*words)
    assert (finished.returncode, finished.stdout) == (status, "")
    assert sentence in finished.stderr
    assert "Traceback" not in finished.stderr
    assert not list(tmp_path.iterdir())


def test_without_a_token_nothing_is_changed(contest: Run) -> None:
    """Nor with a wrong one; to look needs none."""
    for wrong in ("", "wrong"):
        assert complaint(contest("create", GAME, "sneaked", BATTLEBOT_TOKEN=wrong), 1)
        assert "sneaked" not in said(contest("list", GAME, BATTLEBOT_TOKEN=wrong))


def test_who_has_no_token_is_told_where_one_belongs(contest: Run, house: tuple[Cluster, Web], tmp_path: Path) -> None:
    """In one line: the variable, and the file with the server's address; once it is there, it is used."""
    url = house[1].url
    line = complaint(contest("create", GAME, "mine", BATTLEBOT_TOKEN=""), 1)
    assert "BATTLEBOT_TOKEN" in line
    config = tmp_path / ".config" / "battlebot" / "config.toml"
    assert f'[servers."{url}"] in {config}' in line
    assert line.endswith("(no-token)")
    # what the original says of HTTP's headers helps nobody at a command line
    assert "Authorization" not in line


def test_a_server_that_is_not_there_is_told(battlebot: Run) -> None:
    """Status 2."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        assert complaint(battlebot("contest", "list", GAME, "--server", url), 2).startswith(f"Nobody answers at {url}")
    assert "--server" in battlebot("contest", "list", GAME, "--server", "ftp://x").stderr
