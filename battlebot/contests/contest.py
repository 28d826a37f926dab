"""A contest as a value, and its form as a document. `storage` keeps it; `service.changes` decides how it changes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, Literal, TypedDict

OPEN_STATES = ("scheduled", "running", "paused")
OVER = ("finished", "cancelled")
STATES = (*OPEN_STATES, *OVER)
OPENED_BY_LOGIN = "login"
MOST_ENTRANTS = 10_000  # with the longest names, twice, they take 5 MB of the 16 that MongoDB keeps in a document


class Points(TypedDict):
    """What a result counts."""

    win: int
    draw: int
    loss: int


ORIGINAL_POINTS = Points(win=3, draw=1, loss=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """A named competition in one game. The defaults are what a contest has that a login opens, as in the originals.

    `config`, `options`: the settings of the format and of the game. `entrants`: in seeding order. `turn_timeout_ms`:
    None for the server's. `meetings`: of each pair, at most; see `cap_of`. `opened_by`: an organiser, or
    `OPENED_BY_LOGIN`. `runs_since`: when it was last started, resumed or opened again. `revision` grows with each
    change and each match that is taken back. `settled`: all rounds up to this one were over when somebody last looked.
    """

    format: str = "open"
    config: Mapping[str, Any] = field(default_factory=dict)
    entrants: Literal["open"] | list[str] = "open"
    withdrawn: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    turn_timeout_ms: int | None = None
    points: Points = field(default_factory=ORIGINAL_POINTS.copy)
    absent_after_s: int = 60
    absent_counts: str = "loss"
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    runs_since: datetime | None = None
    revision: int = 0
    settled: int = 0
    title: str
    meetings: int
    name: str
    game: str
    state: str
    opened_by: str
    created_at: datetime

    @property
    def where(self) -> tuple[str, str]:
        """Its game and its name, which tell it from all others."""
        return self.game, self.name

    @property
    def run(self) -> str:
        """Tells its present run from others: since it was last started, resumed or opened again."""
        return str(self.runs_since or self.started_at)

    @property
    def is_open(self) -> bool:
        """Whether it takes whoever comes, instead of having a list of entrants."""
        return self.entrants == "open"

    @property
    def listed(self) -> Sequence[str]:
        """The list of entrants; empty for an open contest."""
        return self.entrants if isinstance(self.entrants, list) else ()

    def over(self, now: datetime) -> Literal["for-now", "for-good"] | None:
        """Whether it is over: `for-now` if a match that is taken back would have it go on; None if it is not."""
        if self.state not in OVER:
            return None
        goes_on = self.state == "finished" and (self.ends_at is None or self.ends_at > now)
        return "for-now" if goes_on else "for-good"

    def bots(self, came: Collection[str]) -> Collection[str]:
        """The bots that are in it, withdrawn or not: those on its list or, in an open contest, `came`."""
        return came if self.is_open else self.listed

    def with_fields(self, changes: Mapping[str, Any]) -> Contest:
        """This contest with these fields, named as in a document. Raises KeyError for a name that is none of them."""
        return replace(self, **{_NAMES[key]: value for key, value in changes.items()})

    def as_document(self) -> dict[str, Any]:
        """The fields as they are stored, and named over REST: in camel case."""
        return {key: getattr(self, name) for key, name in _NAMES.items()}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Contest:
        """The contest of a document of any version: a missing field has its default, an unknown one is left out."""
        return cls(**{name: document[key] for key, name in _NAMES.items() if key in document})


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.title() for word in others)


_NAMES = {_camel(each.name): each.name for each in fields(Contest)}
