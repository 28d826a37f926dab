"""The subjects on which a bot may listen over NATS. Pure."""

from __future__ import annotations

import re

_SUBJECT = re.compile(r"[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,15}")
# where bots publish answers, where requests are answered (also at inboxes of a bot's own), and nats-server's own
_RESERVED = ("bot.publish_event", "_INBOX", "_R_", "_GR_")


def problem_of(subject: str) -> str:
    """Why it is not a bot's subject, as a sentence; empty if it is one."""
    if not _SUBJECT.fullmatch(subject):
        return "A bot's subject has letters, digits, - and _, with dots between, and no wildcards."
    if subject.startswith(_RESERVED):
        return f"The subject {subject[:64]} is not a bot's to have."
    return ""
