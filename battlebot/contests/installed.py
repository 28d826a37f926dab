"""The format of a stored contest, which may have been removed since the contest was made. Pure."""

from __future__ import annotations

from battlebot.contests.contest import Contest
from battlebot.contests.formats import format_named, format_names
from battlebot.contests.formats.contract import Format
from battlebot.errors import FormatMissing


def format_of(contest: Contest) -> Format:
    """The contest's format. Raises FormatMissing."""
    if not has_format(contest):
        raise FormatMissing(
            f"The format {contest.format!r} of the contest {contest.name!r} is not installed on this server.",
            format=contest.format,
        )
    return format_named(contest.format)


def has_format(contest: Contest) -> bool:
    """Whether the contest's format is installed."""
    return contest.format in format_names()
