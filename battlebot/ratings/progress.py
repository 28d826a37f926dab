"""How far a game's ratings have come through its stored matches, and how to tell that those have changed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

WINDOW = 5000  # matches between two marks


class Mark(NamedTuple):
    """A point in the order of ends: how many matches up to number `seq` counted, and how many were void."""

    seq: int
    counted: int
    void: int


ORIGIN = Mark(-1, 0, 0)


@dataclass(frozen=True, slots=True)
class Progress:
    """The matches up to `at` are in the ratings; `marks` are the latest two points on the way, WINDOW matches apart.

    A stored match never goes away, and a void one stays void. So the matches up to a point are the ones that were
    rated if and only if both counts are still the same: a match that was archived late adds to one of them, and
    one that became void adds to the second. To count from a mark, rather than from the start, is quick.
    """

    at: Mark = ORIGIN
    marks: tuple[Mark, ...] = (ORIGIN,)

    @property
    def since(self) -> Mark:
        """The older mark: between it and `at` lie at least WINDOW matches, or all."""
        return self.marks[0]

    def over(self, matches: Iterable[Mapping[str, Any]]) -> Progress:
        """The progress after these stored matches, which come in the order of `match.seq`."""
        at, marks = self.at, self.marks
        for match in matches:
            seq, void = match["match"]["seq"], match["match"]["void"]
            # never between matches of the same number: the counts since a mark go by numbers
            if seq > at.seq and at.counted + at.void >= marks[-1].counted + marks[-1].void + WINDOW:
                marks = (marks[-1], at)
            at = Mark(seq, at.counted + (not void), at.void + bool(void))
        return Progress(at, marks)

    def is_as_counted(self, since: Mark, all_matches: int, void: int) -> bool:
        """Whether the stored matches between `since` and `at`, by these counts, are those that were rated."""
        rated = self.at.counted + self.at.void - since.counted - since.void
        return (rated, self.at.void - since.void) == (all_matches, void)

    def as_document(self) -> dict[str, Any]:
        """Shape: `{"at": [seq, counted, void], "marks": [[seq, counted, void], ...]}`."""
        return {"at": list(self.at), "marks": [list(mark) for mark in self.marks]}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Progress:
        """Reads what `as_document` wrote; the beginning if there is nothing yet."""
        if "at" not in document:
            return cls()
        return cls(Mark(*document["at"]), tuple(Mark(*mark) for mark in document["marks"]))
