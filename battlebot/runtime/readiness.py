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
STARTING_S = 20.0  # parts that start together with this one have so long before the log says that they are missing

OK = "ok"


class Readiness:
    """Runs `probes` (part -> a call that raises if the part is not well; Unavailable has a sentence), all at once."""

    def __init__(self, probes: Mapping[str, Callable[[], object]]) -> None:
        self._probes = probes
        self._looking = threading.Lock()
        self._looked_s = float("-inf")
        self._found: dict[str, str] = {}
        self._away: dict[str, float] = {}
        self._told: set[str] = set()
        self._seen_well: set[str] = set()
        self._began_s = time.monotonic()

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
        starting = time.monotonic() - self._began_s < STARTING_S
        for part, state in self._found.items():
            if state == OK:
                self._seen_well.add(part)
                since_s = self._away.pop(part, 0.0)
                if part in self._told:
                    self._told.remove(part)
                    log.info("part.back", part=part, after_s=round(time.time() - since_s, 1))
            else:
                self._away.setdefault(part, time.time())
                if part not in self._told and (part in self._seen_well or not starting):
                    self._told.add(part)
                    log.warning("part.away", part=part, state=state)


def _check(name: str, probe: Callable[[], object], answers: dict[str, str]) -> None:
    try:
        probe()
    except Exception as error:
        answers[name] = str(error) if isinstance(error, Unavailable) else f"does not answer ({type(error).__name__})"
    else:
        answers[name] = OK
