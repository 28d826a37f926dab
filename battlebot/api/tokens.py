"""Checks organisers' bearer tokens (RFC 6750). The command line creates and revokes them."""

from __future__ import annotations

from flask import Blueprint, Response, g, request

from battlebot.api.context import current_context
from battlebot.api.errors import answer
from battlebot.errors import BadToken, NoToken

PASSWORD_SCHEME = "password"  # noqa: S105 - the name of the other security scheme: a bot's password
SCHEME = "organiser"  # the name of the security scheme in OpenAPI


def for_organisers(blueprint: Blueprint) -> None:
    """Require a valid token on all paths of the blueprint; `organiser_name` then returns its name."""
    blueprint.before_request(_check)


def organiser_name() -> str:
    """The name of this request's token."""
    return str(g.organiser)


def _check() -> Response | None:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token.strip():
        sentence = "This is for organisers: send a token, as `Authorization: Bearer <token>`."
        return _refuse(NoToken(sentence), 'Bearer realm="battlebot"')
    name = current_context().storage.tokens.holder(token.strip())
    if name is None:
        bad = BadToken("This token is unknown, expired or revoked.")
        return _refuse(bad, 'Bearer realm="battlebot", error="invalid_token"')
    g.organiser = name
    return None


def _refuse(error: NoToken | BadToken, challenge: str) -> Response:
    response = answer(error.http_status, error.as_dict())
    response.headers["WWW-Authenticate"] = challenge
    return response
