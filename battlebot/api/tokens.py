"""Reads bearer tokens (RFC 6750), and checks organisers'. The command line creates and revokes them."""

from __future__ import annotations

from flask import g, request

from battlebot.api.context import current_context
from battlebot.errors import BadToken, NoToken

PASSWORD_SCHEME = "password"  # noqa: S105 - the name of the other security scheme: a bot's password
SCHEME = "organiser"  # the name of the security scheme in OpenAPI


def organisers_only() -> None:
    """Check the request's token, whose name `organiser_name` returns then. Raises NoToken, BadToken, Unavailable."""
    token = bearer("This is for organisers: send a token, as `Authorization: Bearer <token>`.")
    name = current_context().storage.tokens.holder(token)
    if name is None:
        raise BadToken("This token is unknown, expired or revoked.")
    g.organiser = name


def organiser_name() -> str:
    """The name of this request's token."""
    return str(g.organiser)


def bearer(otherwise: str) -> str:
    """What the request sends as `Authorization: Bearer ...`. Raises NoToken, with the sentence `otherwise`."""
    kind, _, secret = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not secret.strip():
        raise NoToken(otherwise)
    return secret.strip()
