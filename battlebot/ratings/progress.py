"""How far a game's ratings have come over its stored matches, and what shows that those matches changed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

WINDOW = 5000  # matches between two marks


class Mark(NamedTuple):
    """A point in the order of ends: up to the match numbered `seq`, so many counted and so many were void."""

    seq: int
    counted: int
    void: int


ORIGIN = Mark(-1, 0, 0)


@dataclass(frozen=True, slots=True)
class Progress:
    """The matches up to `at` are in the ratings; `marks` are the latest two points on the way, WINDOW matches apart.

    A stored match never goes away, and a void one stays void. So the matches up to a point are the ones that were
    rated if and only if both counts are still the same: a match that was archived late adds to one of them, and
    one that became void adds to the second. Since the marks, instead of since ever, that is quickly counted.
    """

    at: Mark = ORIGIN
    marks: tuple[Mark, ...] = (ORIGIN,)

    @property
    def since(self) -> Mark:
        """The older mark: between it and `at` lie at least WINDOW matches, or all."""
        return self.marks[0]

    def over(self, matches: Iterable[Mapping[str, Any]]) -> Progress:
        """After these stored matches, in the order of `match.seq`."""
        at, marks = self.at, self.marks
        for match in matches:
            seq, void = match["match"]["seq"], match["match"]["void"]
            # not between matches of one number: counts since a mark tell matches by their numbers
            if seq > at.seq and at.counted + at.void >= marks[-1].counted + marks[-1].void + WINDOW:
                marks = (marks[-1], at)
            at = Mark(seq, at.counted + (not void), at.void + bool(void))
        return Progress(at, marks)

    def is_as_counted(self, since: Mark, all_matches: int, void: int) -> bool:
        """Whether so many stored matches between `since` and `at`, so many of them void, are those that were rated."""
        rated = self.at.counted + self.at.void - since.counted - since.void
        return (rated, self.at.void - since.void) == (all_matches, void)

    def as_document(self) -> dict[str, Any]:
        """Shape: `{"at": [seq, counted, void], "marks": [[seq, counted, void], ...]}`."""
        return {"at": list(self.at), "marks": [list(mark) for mark in self.marks]}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Progress:
        """What `as_document` wrote; where there is nothing yet, the beginning."""
        if "at" not in document:
            return cls()
        return cls(Mark(*document["at"]), tuple(Mark(*mark) for mark in document["marks"]))
