"""Reading many documents without holding up whoever shares the process: a web node is one, and bots play on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from pymongo.command_cursor import CommandCursor
from pymongo.cursor import Cursor

from battlebot.runtime.cooperative import yield_to_others

Document = TypeVar("Document", bound=Mapping[str, Any])


def in_batches(found: Cursor[Document] | CommandCursor[Document], size: int) -> Iterator[Document]:
    """Yields the documents, of which the driver decodes at most `size` without a switch; others run in between."""
    for number, document in enumerate(found.batch_size(size), start=1):
        yield document
        if not number % size:
            yield_to_others()
