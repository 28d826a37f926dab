"""An organiser at a running server: its REST requests, with its token; and bots that play in its contests."""

from __future__ import annotations

import csv
import io
import json
import urllib.error
import urllib.request
from typing import Any

from cluster import LIMIT_S, Web

from battlebot.config import Settings
from battlebot.storage import Storage

GAME = "noughtsandcrosses"


class Desk:
    """An organiser at one server, with a token and one contest."""

    def __init__(self, web: Web, token: str, contest: str = "cup", game: str = GAME) -> None:
        self.web, self.token, self.contest, self.game = web, token, contest, game

    def text(self, method: str, path: str, body: Any = None) -> str:
        """Returns the answer's text; an error of the server fails the test."""
        request = urllib.request.Request(
            f"{self.web.url}/games/{self.game}/contests{path}",
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{error.code}: {error.read().decode()}") from None

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Returns the decoded answer."""
        return json.loads(self.text(method, path, body))

    def create(self, **fields: Any) -> Any:
        """Schedules the contest."""
        return self.ask("POST", "", {"name": self.contest, **fields})

    def state(self) -> str:
        """Returns the contest's state."""
        return str(self.ask("GET", f"/{self.contest}")["state"])

    def page(self, path: str) -> str:
        """Returns the HTML of a page about the contest's game."""
        with urllib.request.urlopen(f"{self.web.url}/web/{self.game}/contests{path}", timeout=LIMIT_S) as answer:
            return answer.read().decode()

    def finished(self) -> bool:
        """Returns whether the contest is over."""
        return self.state() == "finished"

    def actions(self) -> list[tuple[str, str]]:
        """Returns the audit as (action, by), latest first."""
        return [(row["action"], row["by"]) for row in self.ask("GET", f"/{self.contest}/audit")]

    def pairs(self) -> list[dict[str, Any]]:
        """Returns the pairs of all bots with their meetings."""
        return list(self.ask("GET", f"/{self.contest}/meetings")["pairs"])

    def listed(self) -> list[dict[str, str]]:
        """Returns the rows of the CSV."""
        return list(csv.DictReader(io.StringIO(self.text("GET", f"/{self.contest}/export.csv"))))

    def ranking(self) -> dict[str, dict[str, Any]]:
        """Returns the rows by bot."""
        rows = self.web.request(f"/games/{self.game}/contest/{self.contest}")[1]["bots"]
        return {row["bot_id"]: row for row in rows}


def organiser_of(settings: Settings, name: str = "organiser") -> str:
    """Returns the token of a new organiser."""
    storage = Storage(settings)
    token = storage.tokens.create(name)
    storage.close()
    return token


def differences(settings: Settings, contest: str = "cup", game: str = GAME) -> list[dict[str, Any]]:
    """Returns what `battlebot contest recompute` finds."""
    storage = Storage(settings)
    found = storage.ledger.recount(game, contest)
    storage.close()
    return found
