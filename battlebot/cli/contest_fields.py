"""Turns what an organiser types into the fields of a contest. Checks only shapes; the server decides the rest."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, TextIO

import click

from battlebot.contests.formats import format_names
from battlebot.errors import BadFormat

_AHEAD = re.compile(r"\+(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?")
_LONGEST_FILE = 4_000_000  # characters; far more than a server takes
_WHEN = "2026-12-01T10:00Z, 2026-12-01T10:00+01:00, now, or from now on +90s, +10m, +1h30m, +2d"


class Converted(click.ParamType):
    """An option whose text is read by a function that raises ValueError with a sentence."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name = name
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Returns the value of the text; a default that is not text stays."""
        if not isinstance(value, str):
            return value
        try:
            return self._read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def moment(text: str, now: datetime) -> datetime:
    """A moment in UTC, from a date with its zone, a time ahead (`+1h30m`) or `now`. Raises ValueError."""
    text = text.strip()
    if text == "now":
        return now
    ahead = _AHEAD.fullmatch(text)
    try:
        if ahead and any(ahead.groups()):
            days, hours, minutes, seconds = (int(part or 0) for part in ahead.groups())
            return now + timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        given = datetime.fromisoformat(text)
        found = given.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{text!r} is too far away.") from None
    except ValueError:
        raise ValueError(f"{text!r} is no moment; it may be {_WHEN}.") from None
    if given.tzinfo is None:
        raise ValueError(f"{text!r} has no zone: end it with Z for UTC, or with an offset such as +01:00.")
    return found


def written(at: datetime) -> str:
    """A moment as the server reads it."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def keyed(text: str) -> tuple[str, Any]:
    """`key=value`; the value is JSON if it parses as such (numbers, true, lists), else text. Raises ValueError."""
    key, marker, value = text.partition("=")
    if not marker or not key.strip():
        raise ValueError(f"{text!r} is not key=value.")
    try:
        return key.strip(), json.loads(value, parse_constant=_no_number)
    except ValueError:
        return key.strip(), value


def collected(pairs: Iterable[tuple[str, Any]], option: str) -> dict[str, Any] | None:
    """The pairs of a repeated option as an object; None if there are none. A key given twice is a usage error."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise click.UsageError(f"{option} {key} is given twice.")
        found[key] = value
    return found or None


def points(text: str) -> dict[str, int | float]:
    """`3,1,0`: what a win, a draw and a loss count. Raises ValueError."""
    words = text.split(",")
    try:
        numbers = [_number(word) for word in words]
        return dict(zip(("win", "draw", "loss"), numbers, strict=True))
    except ValueError:
        raise ValueError(f"{text!r} is not three numbers like 3,1,0 (win, draw, loss).") from None


def names(listed: str | None, file: TextIO | None) -> list[str] | str | None:
    """The entrants, from a comma-separated list (or the word `open`) or a file with one per line; None if neither.

    A name with a comma can only be given in the file. It is a usage error to give both, or to name nobody.
    """
    if listed is not None and file is not None:
        raise click.UsageError("Give --entrants or --entrants-file, not both.")
    if listed is not None and listed.strip() == "open":
        return "open"
    if listed is not None:
        parts = listed.split(",")
    elif file is not None:
        parts = _text(file).split("\n")
    else:
        return None
    found = [part.strip() for part in parts if part.strip()]
    if not found:
        raise click.UsageError("No entrant is named.")
    return found


def _text(file: TextIO) -> str:
    try:
        text = file.read(_LONGEST_FILE + 1)
    except UnicodeDecodeError:
        raise click.UsageError("What --entrants-file names is not UTF-8 text.") from None
    if len(text) > _LONGEST_FILE:
        raise click.UsageError(f"What --entrants-file names has more than {_LONGEST_FILE} characters.")
    return text


def _no_number(word: str) -> None:
    # Python would read NaN and Infinity, which JSON does not have
    raise ValueError(word)


def _number(word: str) -> int | float:
    try:
        return int(word)
    except ValueError:
        number = float(word)
    if not math.isfinite(number):
        raise ValueError
    return number


NOTHING = object()  # what `none` stands for: the field's null; None is an option that was not given


def _or_none(read: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: NOTHING if text.strip() == "none" else read(text)


def milliseconds(text: str) -> int:
    """A whole number. Raises ValueError."""
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number of milliseconds.") from None


_MOMENT = Converted("moment", _or_none(lambda text: moment(text, datetime.now(UTC))))
_MILLISECONDS = Converted("ms", _or_none(milliseconds))
_KEYED = Converted("key=value", keyed)
_POINTS = Converted("win,draw,loss", points)


def with_fields(new: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds an option for each field of a contest. Only the help for a `new` one names defaults."""

    def option(name: str, about: str, default: str = "", **more: Any) -> Callable[..., Any]:
        words = f"{about} Default: {default}." if new and default else about
        return click.option(*name.split(), help=words, **more)

    keyed_values: dict[str, Any] = {"type": _KEYED, "multiple": True, "metavar": "KEY=VALUE"}
    entrants_file = click.File(encoding="utf-8")
    fields = (
        option("--title", "Title for people; NAME is for programs."),
        option("--format format_name", _known_formats(), "open", metavar="FORMAT"),
        option("--config", "A setting of the format. Repeatable.", **keyed_values),
        option("--meetings", "Matches per pair, 1 to 5.", "5", type=int),
        option("--entrants", "The bots, in seeding order; or open.", "open", metavar="A,B,C"),
        option("--entrants-file", "File with the bots, one per line; - is stdin.", type=entrants_file),
        option(
            "--starts",
            "2026-12-01T10:00Z, +10m, or now; none: by the command start.",
            "none",
            type=_MOMENT,
            metavar="MOMENT",
        ),
        option("--ends", "Latest end, as --starts; none: when all is played.", "none", type=_MOMENT, metavar="MOMENT"),
        option("--option", "An option of the game. Repeatable.", **keyed_values),
        option(
            "--turn-timeout",
            "Milliseconds per turn; none: as the server and the game say.",
            "none",
            type=_MILLISECONDS,
            metavar="MS",
        ),
        option("--points", "Points for a win, a draw, a loss.", "3,1,0", type=_POINTS, metavar="W,D,L"),
        option("--absent-after", "Seconds a meeting waits for an absent bot.", "60", type=int, metavar="S"),
        option("--absent-counts", "What the meeting then counts as.", "loss", type=click.Choice(["loss", "void"])),
    )

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for each in reversed(fields):
            command = each(command)
        return command

    return add


def _known_formats() -> str:
    try:
        return f"One of {', '.join(format_names())}."
    except BadFormat:
        # the server has formats of its own, and other commands need none
        return "Who meets whom."


def body(given: dict[str, Any]) -> dict[str, Any]:
    """The fields that were given; the server keeps the others, or has defaults for them."""
    values = {
        "title": given["title"],
        "format": given["format_name"],
        "config": collected(given["config"], "--config"),
        "meetings": given["meetings"],
        "entrants": names(given["entrants"], given["entrants_file"]),
        "options": collected(given["option"], "--option"),
        "turnTimeoutMs": given["turn_timeout"],
        "points": given["points"],
        "absentAfterS": given["absent_after"],
        "absentCounts": given["absent_counts"],
        "startsAt": given["starts"],
        "endsAt": given["ends"],
    }
    return {field: _sent(value) for field, value in values.items() if value is not None}


def _sent(value: Any) -> Any:
    if value is NOTHING:
        return None
    return written(value) if isinstance(value, datetime) else value
