"""The page /docs: the API's description for people, made from the OpenAPI document."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, current_app, render_template

from battlebot.api.openapi import description
from battlebot.runtime.cooperative import cooperatively

METHODS = ("get", "post", "put", "patch", "delete")

docs = Blueprint("docs", __name__)


@docs.get("/docs")
def show() -> str:
    """The page with every path, its arguments and answers."""
    document = description(current_app)
    return render_template("docs.html", operations=cooperatively(operations(document)))


def operations(document: dict[str, Any]) -> list[dict[str, Any]]:
    """`[{"method", "path", "summary", "text", "arguments", "answers"}]` of an OpenAPI document, in its order."""
    found = []
    for path, item in document["paths"].items():
        for method in (method for method in METHODS if method in item):
            operation = item[method]
            parameters = [*item.get("parameters", ()), *operation.get("parameters", ())]
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            found.append(
                {
                    "method": method.upper(),
                    "path": path,
                    "summary": operation.get("summary", ""),
                    "text": operation.get("description", ""),
                    "arguments": [_parameter(row) for row in parameters] + _fields(document, body, "body"),
                    "answers": [
                        _answer(document, *row) for row in sorted(operation["responses"].items()) if row[0].isdigit()
                    ],
                }
            )
    return found


def _parameter(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": row["name"],
        "place": row["in"],
        "required": row.get("required", False),
        "text": row.get("description") or row.get("schema", {}).get("description", ""),
    }


def _fields(document: dict[str, Any], schema: dict[str, Any] | None, place: str) -> list[dict[str, Any]]:
    resolved = _resolved(document, schema or {})
    required = resolved.get("required", ())
    return [
        {"name": name, "place": place, "required": name in required, "text": row.get("description", "")}
        for name, row in resolved.get("properties", {}).items()
    ]


def _answer(document: dict[str, Any], status: str, row: dict[str, Any]) -> dict[str, Any]:
    answer = _resolved(document, row)
    schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
    is_list = schema.get("type") == "array"
    fields = _fields(document, schema["items"] if is_list else schema, "answer")
    # all errors have one format, which the head of the page describes
    names = [field["name"] for field in fields] if status.startswith("2") else []
    return {"status": status, "text": answer.get("description", ""), "is_list": is_list, "names": names}


def _resolved(document: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """What a `$ref` points to, or the node itself."""
    while "$ref" in node:
        target: Any = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    return node
