"""What parts have written to their logs: events as JSON, one a line, and what else a process may write to stderr."""

from __future__ import annotations

import json

BEFORE, AFTER = 3, 40  # lines around a bare traceback that are shown


def level(line: str) -> str:
    """Returns the level of an event, such as "error"; empty for what is no event."""
    try:
        return str(json.loads(line)["level"])
    except (ValueError, KeyError, TypeError):
        return ""


def errors(text: str) -> list[str]:
    """Returns each event that tells of an error, and each bare traceback together with the lines around it."""
    lines = text.splitlines()
    found = []
    for number, line in enumerate(lines):
        if level(line) in ("error", "critical") or (level(line) and "Traceback" in line):
            found.append(line)
        elif "Traceback" in line:
            found.append("\n".join(lines[max(0, number - BEFORE) : number + AFTER]))
    return found
