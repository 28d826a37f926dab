"""What the doctor finds: one row per check. Pure."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class State(StrEnum):
    """How a check ended, the best first."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"
    AWAY = "away"  # what was to be checked does not answer


@dataclass(frozen=True)
class Finding:
    """`sentence` is for a person, `facts` are for a program."""

    part: str
    state: State
    sentence: str
    facts: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Shape: `{"part", "state", "sentence", "facts"}`."""
        return {**asdict(self), "state": self.state.value}


def ok(part: str, sentence: str, **facts: Any) -> Finding:
    """A finding that all is well."""
    return Finding(part, State.OK, sentence, facts)


def warning(part: str, sentence: str, **facts: Any) -> Finding:
    """A finding that something works, but should be looked at."""
    return Finding(part, State.WARNING, sentence, facts)


def wrong(part: str, sentence: str, **facts: Any) -> Finding:
    """A finding that something does not work as it must."""
    return Finding(part, State.WRONG, sentence, facts)


def away(part: str, sentence: str) -> Finding:
    """A finding that something does not answer."""
    return Finding(part, State.AWAY, sentence)


def exit_status(findings: list[Finding]) -> int:
    """0: nothing is wrong; 1: something is; 2: something does not answer."""
    states = {finding.state for finding in findings}
    return 2 if State.AWAY in states else int(State.WRONG in states)
