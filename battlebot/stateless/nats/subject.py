"""Addresses of bots behind NATS: `nats://` and the bot's subject."""

from __future__ import annotations

from battlebot.errors import BadAddress
from battlebot.wire.macondo.subject import problem_of

SCHEMES = ("nats",)
BEGINNING = "nats://"


def subject_of(address: str) -> str:
    """The subject of `nats://subject`. Raises BadAddress if it is malformed, has wildcards or is reserved."""
    subject = address.removeprefix(BEGINNING)
    if subject == address:
        raise BadAddress("An address over NATS is nats:// and the bot's subject.", field="url")
    if problem := problem_of(subject):
        raise BadAddress(problem, field="url")
    return subject
