"""What organisers type, as fields of a contest: moments, key=value, points, entrants."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import click
import pytest

from battlebot.cli.contest_fields import collected, keyed, moment, names, points, written

NOW = datetime(2026, 11, 30, 23, 59, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-12-01T10:00Z", "2026-12-01T10:00:00.000Z"),
        ("2026-12-01T10:00:01.5+01:00", "2026-12-01T09:00:01.500Z"),
        ("2026-12-01 10:00-02:30", "2026-12-01T12:30:00.000Z"),
        ("now", "2026-11-30T23:59:30.000Z"),
        ("+90s", "2026-12-01T00:01:00.000Z"),
        ("+10m", "2026-12-01T00:09:30.000Z"),
        (" +1d2h3m4s ", "2026-12-02T02:02:34.000Z"),
    ],
)
def test_a_moment_is_a_date_with_its_zone_or_a_time_ahead(text: str, expected: str) -> None:
    """Written in UTC with milliseconds, as everywhere."""
    assert written(moment(text, NOW)) == expected


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("2026-12-01T10:00", "has no zone"),
        ("2026-12-01", "has no zone"),
        ("tomorrow", "is no moment"),
        ("+", "is no moment"),
        ("+10", "is no moment"),
        ("+5m1h", "is no moment"),
        ("-10m", "is no moment"),
        ("", "is no moment"),
        ("+999999d999999h", "too far away"),
        ("9999-12-31T23:00-05:00", "too far away"),
        ("+999999999d", "is no moment"),
    ],
)
def test_what_is_no_moment_is_told(text: str, sentence: str) -> None:
    """A date without a zone most of all: the organiser's and the server's may differ."""
    with pytest.raises(ValueError, match=sentence):
        moment(text, NOW + timedelta(days=366 * 6000))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("size=15", ("size", 15)),
        ("rate=0.5", ("rate", 0.5)),
        ("strict=true", ("strict", True)),
        ("opening=swap2", ("opening", "swap2")),
        ('opening="15"', ("opening", "15")),
        ("seeds=[1, 2]", ("seeds", [1, 2])),
        ("text=a=b", ("text", "a=b")),
        ("empty=", ("empty", "")),
        ("rate=NaN", ("rate", "NaN")),
    ],
)
def test_a_value_is_json_where_it_can_be(text: str, expected: tuple[str, Any]) -> None:
    """Else it is text, without quotation marks."""
    assert keyed(text) == expected


@pytest.mark.parametrize("text", ["size", "=15", " =15", ""])
def test_a_key_must_be_there(text: str) -> None:
    """And its sign."""
    with pytest.raises(ValueError, match="is not key=value"):
        keyed(text)


def test_a_key_stands_once() -> None:
    """Two values for one option would leave open which."""
    assert collected([("a", 1), ("b", 2)], "--option") == {"a": 1, "b": 2}
    assert collected([], "--option") is None
    with pytest.raises(click.UsageError, match="--option a is given twice"):
        collected([("a", 1), ("a", 2)], "--option")


def test_points_are_three_numbers() -> None:
    """Of a win, a draw, a loss."""
    assert points("2, 0.5,-1") == {"win": 2, "draw": 0.5, "loss": -1}
    for text in ("3,1", "3,1,0,0", "3;1;0", "a,b,c", "", "nan,1,0"):
        with pytest.raises(ValueError, match="is not three numbers"):
            points(text)


@pytest.mark.parametrize(
    ("listed", "text", "expected"),
    [
        (None, None, None),
        ("open", None, "open"),
        ("a, b,c", None, ["a", "b", "c"]),
        (None, "a\n\nb, c\r\n", ["a", "b, c"]),
        (None, "open\n", ["open"]),
    ],
)
def test_entrants_come_by_a_list_or_by_a_file(listed: str | None, text: str | None, expected: Any) -> None:
    """In a file even a name with a comma, or a bot that is called open."""
    assert names(listed, None if text is None else StringIO(text)) == expected


@pytest.mark.parametrize(("listed", "text"), [("a", "b"), (" , ", None), (None, "\n"), ("", None)])
def test_entrants_come_one_way_and_are_somebody(listed: str | None, text: str | None) -> None:
    """An empty list is a mistake, such as a file that was not written."""
    with pytest.raises(click.UsageError):
        names(listed, None if text is None else StringIO(text))


def test_a_file_of_entrants_that_is_no_text_is_told(tmp_path: Path) -> None:
    """And not taken for an answer of the server that cannot be read."""
    file = tmp_path / "entrants"
    file.write_bytes(b"perfect\n\xff\n")
    with file.open(encoding="utf-8") as lines, pytest.raises(click.UsageError, match="is not UTF-8 text"):
        names(None, lines)


def test_a_file_of_entrants_that_never_ends_is_not_read_to_the_end() -> None:
    """Nor is one of many gigabytes: it would take all memory before it was refused."""
    with (
        Path("/dev/zero").open(encoding="utf-8") as endless,
        pytest.raises(click.UsageError, match="more than 4000000"),
    ):
        names(None, endless)
