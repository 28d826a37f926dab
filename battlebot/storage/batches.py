"""Reading many documents without holding up whoever shares the process: a web node is one, and bots play on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, cast

from bson import CodecOptions, decode_iter
from pymongo.command_cursor import CommandCursor, RawBatchCommandCursor
from pymongo.cursor import Cursor, RawBatchCursor

from battlebot.runtime.cooperative import yield_to_others

BATCH_BYTES = 200_000
FEWEST = 8  # documents per batch while nobody knows their size
MOST = 50

Document = TypeVar("Document", bound=Mapping[str, Any])
Batches = RawBatchCommandCursor[Any] | RawBatchCursor[Any]


def in_batches(found: Cursor[Document] | CommandCursor[Document], size: int) -> Iterator[Document]:
    """Yields the documents, of which the driver decodes at most `size` without a switch; others run in between."""
    for number, document in enumerate(found.batch_size(size), start=1):
        yield document
        if not number % size:
            yield_to_others()


def by_size(found: Batches, options: CodecOptions[Any]) -> Iterator[dict[str, Any]]:
    """Yields the documents that an aggregation finds, in batches by their size; others run in between."""
    # the command itself brings none of them
    found.batch_size(FEWEST)
    for batch in each(found):
        count = 0
        for document in decode_iter(batch, options):
            yield document
            count += 1
        found.batch_size(fitting(len(batch), count))
        if count >= FEWEST:
            yield_to_others()


def each(found: Batches) -> Iterator[bytes]:
    """The batches as bytes, which the driver's own types call documents."""
    return cast("Iterator[bytes]", found)


def fitting(size: int, count: int) -> int:
    """How many documents fit into a batch, if `count` of them have `size` bytes together."""
    return max(1, min(MOST, BATCH_BYTES * count // max(size, 1)))
