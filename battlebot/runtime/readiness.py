"""Which of the parts that a node depends on answer, and since when one does not. Probes are passed in."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

import structlog

from battlebot.errors import Unavailable

log = structlog.get_logger()

FRESH_S = 1.0  # how old a reused answer may be
ANSWER_WITHIN_S = 2.5  # those who probe this node wait for a few seconds only
LOOK_EVERY_S = 5.0

OK = "ok"


class Readiness:
    """Runs `probes` (part -> a call that raises if the part is not well; Unavailable has a sentence), all at once."""

    def __init__(self, probes: Mapping[str, Callable[[], object]]) -> None:
        self._probes = probes
        self._looking = threading.Lock()
        self._looked_s = float("-inf")
        self._found: dict[str, str] = {}
        self._away: dict[str, float] = {}

    def start(self) -> None:
        """Starts a thread that looks every `LOOK_EVERY_S`, so that a failed part is known before anybody asks."""
        threading.Thread(target=self._run, name="readiness", daemon=True).start()

    def __call__(self) -> dict[str, str]:
        """Returns `ok` or a sentence for each part; the probes get `ANSWER_WITHIN_S`."""
        with self._looking:
            if time.monotonic() - self._looked_s > FRESH_S:
                self._found = self._look()
                self._looked_s = time.monotonic()
                self._note()
            return dict(self._found)

    def away(self) -> dict[str, float]:
        """Returns part -> since when (epoch) it is known not to be well. Runs no probe."""
        return dict(self._away)

    def _run(self) -> None:
        while True:
            try:
                self()
            except Exception:
                log.exception("readiness.failed")
            time.sleep(LOOK_EVERY_S)

    def _look(self) -> dict[str, str]:
        answers: dict[str, str] = {}
        threads = [
            threading.Thread(target=_check, args=(name, probe, answers), daemon=True)
            for name, probe in self._probes.items()
        ]
        for thread in threads:
            thread.start()
        until_s = time.monotonic() + ANSWER_WITHIN_S
        for thread in threads:
            thread.join(max(0.0, until_s - time.monotonic()))
        return {name: answers.get(name, "does not answer in time") for name in self._probes}

    def _note(self) -> None:
        for part, state in self._found.items():
            if state != OK and part not in self._away:
                self._away[part] = time.time()
                log.warning("part.away", part=part, state=state)
            elif state == OK and part in self._away:
                log.info("part.back", part=part, after_s=round(time.time() - self._away.pop(part), 1))


def _check(name: str, probe: Callable[[], object], answers: dict[str, str]) -> None:
    try:
        probe()
    except Exception as error:
        answers[name] = str(error) if isinstance(error, Unavailable) else f"does not answer ({type(error).__name__})"
    else:
        answers[name] = OK
