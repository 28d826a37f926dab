"""`python -m chaos.bots FOLDER`: plays all bots of `FOLDER/bots.json`, each in a thread, with a diary each in FOLDER.

Half of them use the SDK, half speak as original clients do. Runs until it is killed.
"""

from __future__ import annotations

import itertools
import json
import logging
import random
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import websocket
from original_client import LoginRejected, OriginalClient, ProtocolViolation

from battlebot.client import Bot, Credentials, run
from battlebot.client.bot import State, Turn
from battlebot.client.errors import ClientError
from battlebot.client.samples.turns import possible_turns
from chaos.diary import Diary

AWAY_S = 4.5  # longer than a turn's time-out: a bot away for so long has lost
CONNECT_AGAIN_S = 0.25
LIMIT_S = 86_400.0


class Quit(Exception):
    """The bot disconnects during a match and stays away until it has lost."""


class Temper:
    """How a bot plays: any valid turn after some thought, and now and then its `vice`."""

    def __init__(self, row: dict[str, Any], diary: Diary) -> None:
        self._dice = random.Random(row["seed"])
        self._game, self._bot, self._think_s, self._vice = row["game"], row["bot_id"], row["think_s"], row["vice"]
        self._diary = diary

    def choose(self, state: State, match: str, version: int | None) -> Turn:
        """Returns a turn. Raises Quit."""
        began_s = time.monotonic()
        turn: Turn = self._dice.choice(possible_turns(self._game, state, self._bot))
        if self._tempted("slow", 0.02, match, version):
            time.sleep(AWAY_S)
        elif self._tempted("quit", 0.015, match, version):
            raise Quit
        elif self._tempted("blunder", 0.1, match, version):
            turn = {"column": 99}
        time.sleep(self._dice.uniform(0, self._think_s))
        spent_s = round(time.monotonic() - began_s, 3)
        self._diary.note("answered", match=match, version=version, turn=turn, thinking_s=spent_s)
        return turn

    def _tempted(self, how: str, chance: float, match: str, version: int | None) -> bool:
        if self._vice != how or self._dice.random() >= chance:
            return False
        self._diary.note("misbehaved", match=match, version=version, how=how)
        return True


class SdkBot(Bot):
    """A bot that uses the SDK and notes in its diary what it is told."""

    def __init__(self, row: dict[str, Any], diary: Diary) -> None:
        self._diary, self._temper = diary, Temper(row, diary)

    def choose(self, state: State) -> Turn:
        """Chooses by its temper."""
        return self._temper.choose(state, self.match.id, self.match.version)

    def started(self, state: State) -> None:
        """Notes the state."""
        self._told(state, None)

    def updated(self, state: State, turn: Turn | None) -> None:
        """Notes the state and the turn."""
        self._told(state, turn)

    def finished(self, state: State) -> None:
        """Does nothing: `started` or `updated` has noted it already."""

    def notice(self, code: str, text: str) -> None:
        """Notes the notice."""
        self._diary.note("noticed", code=code, text=text)

    def _told(self, state: State, turn: Turn | None) -> None:
        about = {"strikes": self.match.strikes, "remaining_ms": self.match.remaining_ms}
        self._diary.note("told", match=self.match.id, version=self.match.version, state=state, turn=turn, **about)


def play_sdk(row: dict[str, Any], diary: Diary) -> None:
    """Runs an SDK bot for ever; notes `died` if `run` returns or raises, as its author would then have to step in."""
    credentials = Credentials(game=row["game"], bot_id=row["bot_id"], pass_hash=row["pass_hash"])
    while True:
        try:
            run(SdkBot(row, diary), row["url"], row["game"], row["contest"], credentials=credentials, keep=row["keep"])
            diary.note("died", why="run returned")
        except ClientError as error:
            diary.note("died", why=repr(error))
        time.sleep(1.0)


class OriginalBot:
    """An original client in the loop that its author wrote around it."""

    def __init__(self, row: dict[str, Any], diary: Diary) -> None:
        self._diary, self._temper = diary, Temper(row, diary)
        self._match: dict[str, Any] = {}
        auth = {key: row[key] for key in ("bot_id", "game", "pass_hash")}
        self._client = OriginalClient(row["url"], auth, self._choose, row["contest"], LIMIT_S, self._saw)

    def play_for_ever(self) -> None:
        """Reconnects whatever happens."""
        while True:
            self._diary.note("connects")
            try:
                self._client.play_once()
                record = self._client.connections[-1]
                self._diary.note("ended", why=f"closed {record.close_code} {record.close_reason}".strip())
            except Quit:
                time.sleep(AWAY_S)
            except (OSError, websocket.WebSocketException, LoginRejected) as error:
                self._diary.note("ended", why=repr(error))
                time.sleep(CONNECT_AGAIN_S)
            except ProtocolViolation as error:
                self._diary.note("died", why=repr(error))
            self._client.connections.clear()

    def _choose(self, state: State) -> Turn:
        return self._temper.choose(state, self._match.get("id", ""), self._match.get("version"))

    def _saw(self, way: str, text: str) -> None:
        message = json.loads(text) if way == "received" and text else {}
        if "state" in message:
            self._match = message.get("match", {})
            about = {"strikes": self._match.get("strikes"), "remaining_ms": self._match.get("remainingMs")}
            match, version = self._match.get("id"), self._match.get("version")
            self._diary.note(
                "told", match=match, version=version, state=message["state"], turn=message.get("turn"), **about
            )


class SdkLog(logging.Handler):
    """A log handler that notes the SDK's log in the diary of the thread's bot."""

    def __init__(self, diaries: dict[str, Diary]) -> None:
        super().__init__(logging.INFO)
        self._diaries = diaries

    def emit(self, record: logging.LogRecord) -> None:
        """Notes the record as `logged`."""
        diary = self._diaries.get(record.threadName or "")
        if diary is not None:
            diary.note("logged", level=record.levelname, text=record.getMessage())


def play_original(row: dict[str, Any], diary: Diary) -> None:
    """Plays an original client; never returns."""
    OriginalBot(row, diary).play_for_ever()


KINDS: dict[str, Callable[[dict[str, Any], Diary], None]] = {"sdk": play_sdk, "original": play_original}


def main(folder: Path) -> None:
    """Plays until it is killed."""
    rows = json.loads((folder / "bots.json").read_text())
    diaries = {row["bot_id"]: Diary(folder / f"{row['bot_id']}.diary", row["bot_id"]) for row in rows}
    sdk_log = logging.getLogger("battlebot.client")
    sdk_log.setLevel(logging.INFO)
    sdk_log.addHandler(SdkLog(diaries))
    for row in rows:
        diary = diaries[row["bot_id"]]
        threading.Thread(target=KINDS[row["kind"]], args=(row, diary), name=row["bot_id"], daemon=True).start()
    for _ in itertools.count():
        time.sleep(3600)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
