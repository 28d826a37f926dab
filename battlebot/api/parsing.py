"""Reads bodies and query strings for the schemas, and reports errors in our format."""

from __future__ import annotations

import codecs
import json
from collections import Counter
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, NoReturn

import marshmallow as ma
from flask import Request, request
from flask_smorest import Blueprint
from webargs.flaskparser import FlaskParser

from battlebot.api.context import current_context
from battlebot.errors import BadMessage
from battlebot.runtime.cooperative import in_turn_if_large
from battlebot.wire.jsontext import decode_object

OF_ANY_REQUEST = (414, 431)
OF_A_BODY = (408, 413)
OF_STORES = (503,)


class Parser(FlaskParser):
    """Reads the body as JSON whatever its Content-Type; answers 400 if it is invalid.

    Query arguments that a schema does not have are ignored, as webargs does by default.
    """

    DEFAULT_VALIDATION_STATUS = 400

    def load_json(self, req: Request, schema: ma.Schema) -> dict[str, Any]:
        """The body's JSON object. Raises BadMessage if it is empty, or as `decode_object` and `check_keys` do."""
        body = req.get_data(cache=True)
        if not body:
            raise BadMessage("The body is empty; it must be a JSON object.", rule="json")
        return json_object(body)

    def handle_error(self, error: ma.ValidationError, *_args: Any, **_kwargs: Any) -> NoReturn:
        """Raise BadMessage for the first broken rule, with the details `field` and `rule`."""
        messages: Any = error.messages
        location = next(iter(messages))
        field, found = next(iter(messages[location].items()))
        first = found[0] if isinstance(found, list) else found
        details = first if isinstance(first, Mapping) else {"rule": "invalid", "sentence": f"{field}: {first}"}
        raise BadMessage(details["sentence"], field=str(field)[:64], rule=details["rule"])


class Described(Blueprint):
    """A blueprint whose views are described in OpenAPI and parse their arguments with `Parser`.

    The description of each has the errors about a request's size and pace as well, and those of stores that are away
    unless `asks_stores` is false.
    """

    ARGUMENTS_PARSER = Parser()

    def __init__(self, *args: Any, asks_stores: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._errors = (*OF_ANY_REQUEST, *(OF_STORES if asks_stores else ()))
        self._prepare_doc_cbks.append(self._with_common_errors)

    def _with_common_errors(
        self, doc: dict[str, Any], _info: dict[str, Any], *, method: str, **_kwargs: Any
    ) -> dict[str, Any]:
        # a request that takes no body may be sent with one
        for status in (*self._errors, *(OF_A_BODY if method != "get" else ())):
            # the name of a response that flask-smorest describes by our schema of errors
            doc["responses"].setdefault(str(status), HTTPStatus(status).name)
        return doc


def refuse_query() -> None:
    """Raise BadMessage if the request has a query argument."""
    for name in request.args:
        raise BadMessage(f"The query argument {name[:64]!r} is not known here.", field=name[:64], rule="unknown")


def refuse_body() -> None:
    """Raise BadMessage if the request has a body that says anything: one may be empty, or an object without keys."""
    body = request.get_data(cache=True)
    for key in json_object(body) if body else ():
        raise BadMessage(f"The body has the key {key[:64]!r}; this request takes none.", field=key[:64], rule="unknown")


def json_object(body: bytes) -> dict[str, Any]:
    """The JSON object that a body is. Raises BadMessage as `decode_object` and `check_keys` do.

    A byte order mark before it is ignored, as the original server did (RFC 8259, 8.1).
    """
    body = body.removeprefix(codecs.BOM_UTF8)
    in_turn_if_large(body)
    try:
        value = decode_object(body, current_context().settings.max_nesting)
    except BadMessage as error:
        raise BadMessage(f"The body is refused: {error}", rule="json") from None
    check_keys(body)
    return value


def check_keys(body: bytes) -> None:
    """Raise BadMessage if an object repeats a key, because two readers could read two different values."""
    # numbers are not parsed: their values do not matter here, and the standard library refuses very long ones
    number = {"parse_int": len, "parse_float": len, "parse_constant": len}
    json.loads(body, object_pairs_hook=_without_repetition, **number)  # type: ignore[arg-type]


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        repeated = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise BadMessage(f"The key {repeated[:64]!r} stands twice in one object.", field=repeated[:64], rule="unique")
    return found
