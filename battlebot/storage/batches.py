"""Reading many documents without holding up whoever shares the process: a web node is one, and bots play on it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from pymongo.cursor import Cursor

Document = TypeVar("Document", bound=Mapping[str, Any])

# not 0: gevent looks at sockets and clocks only after 50 sleeps of that kind
YIELD_S = 1e-4


def yield_to_others() -> None:
    """Lets all other greenlets run whose sockets or clocks are ready."""
    time.sleep(YIELD_S)


def in_batches(found: Cursor[Document], size: int) -> Iterator[Document]:
    """Yields the documents, of which the driver decodes at most `size` without a switch; others run in between."""
    for number, document in enumerate(found.batch_size(size), start=1):
        yield document
        if not number % size:
            yield_to_others()
