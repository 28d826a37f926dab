"""What a program that has ended wrote last about why: the most telling line of its log. Opens no file.

Three kinds of lines are known: events of our own parts, mongod's, both in JSON, and text, such as Valkey's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

_MOST_CHARACTERS = 300
_WORDS_OF_ERRORS = ("error", "fatal", "failed", "can't")
# after an error that says what it dies of: that it does, and advice
_MONGODS_LAST = ("Fatal assertion", "Writing fatal message", "aborting after", "Please read the documentation")
_WHERE = ("BACKTRACE", "Frame")  # dozens of lines, after all others
_GUNICORNS_LAST = ("exited with code", "Shutting down", "Reason: ")  # after the error of its worker process
_NOT_WHY = (0, -31804)  # codes of WiredTiger's: a remark, and a panic, which follows from an error
# its process, the time, the severity: it knows no higher one, and also advises by it at its start ("WARNING ...")
_VALKEYS_WARNING = re.compile(r"\d+:[A-Z] [\w :.]+ # (?!WARNING)")


class _Words(NamedTuple):
    text: str
    is_error: bool


def most_telling(lines: Iterable[str]) -> str | None:
    """Returns the message of the last line that reports an error, else of the last one; None if all are empty.

    It has at most 300 characters.
    """
    words = [_words(line) for each in lines if (line := each.strip()) and not _is_torn(line)]
    told = [one for one in words if one.text not in _WHERE]
    telling = [one for one in told if one.is_error] or told
    return telling[-1].text[:_MOST_CHARACTERS] if telling else None


def _is_torn(line: str) -> bool:
    """Whether it is the beginning of an event: its disk had no room for the rest."""
    return line.startswith("{") and not line.endswith("}")


def _words(line: str) -> _Words:
    try:
        event = json.loads(line)
        return _of_ours(line, event) if "event" in event else _of_mongod(event)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return _of_text(line)


def _of_ours(line: str, event: dict[str, Any]) -> _Words:
    if "exception" in event:
        # a traceback ends with what it is about
        return _Words(event["exception"].rstrip().rpartition("\n")[2].strip(), is_error=True)
    is_last = any(last in event["event"] for last in _GUNICORNS_LAST)
    return _Words(line, is_error=event["level"] in ("error", "critical") and not is_last)


def _of_mongod(event: dict[str, Any]) -> _Words:
    """Reads a message, its severity `s` and its attributes; an error of WiredTiger's has its message there."""
    said, about, is_error = event["msg"], event.get("attr", {}), event["s"] in ("E", "F")
    if "verbose_level" in about.get("message", ()):
        words = about["message"]
        text = ": ".join(filter(None, (f"{said} {words['msg']}", words.get("error_str"))))
        return _Words(text, is_error=is_error and about["error"] not in _NOT_WHY)
    error = about.get("error", about.get("reason", about.get("message", "")))
    detail = error["errmsg"] if isinstance(error, dict) else error
    return _Words(f"{said} {detail}".strip(), is_error=is_error and not any(last in said for last in _MONGODS_LAST))


def _of_text(line: str) -> _Words:
    has_word = any(word in line.lower() for word in _WORDS_OF_ERRORS)
    return _Words(line, is_error=has_word or bool(_VALKEYS_WARNING.match(line)))
