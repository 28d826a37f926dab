"""What one bot wrote down: a line of JSON for each thing that it was told, that it did, or that happened to it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Diary:
    """Lines `{"at": epoch, "bot", "what", ...}`; each is in the file before `note` returns.

    `what` is one of: `told` (match, version, state, turn), `answered` (match, version, turn, thinking_s),
    `misbehaved` (match, version, how: slow, quit or blunder), `connected`, `ended` (why),
    `died` (why: the bot gave up).
    """

    def __init__(self, path: Path, bot: str) -> None:
        self._stream = path.open("a", buffering=1)
        self._bot = bot
        self._lock = threading.Lock()

    def note(self, what: str, **details: Any) -> None:
        """Appends a line."""
        line = json.dumps({"at": time.time(), "bot": self._bot, "what": what, **details})
        with self._lock:
            self._stream.write(line + "\n")


def entries(folder: Path) -> Iterator[dict[str, Any]]:
    """Yields all lines of all diaries in a folder, each bot's in order. An incomplete last line is left out."""
    for path in sorted(folder.glob("*.diary")):
        for line in path.read_text().splitlines(keepends=True):
            if line.endswith("\n"):
                yield json.loads(line)
