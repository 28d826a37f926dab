"""How many bytes of large answers and events a node keeps for those who read them slowly, in all and for one address.

Without this, an address would have the node keep hundreds of lists of megabytes, for as long as it may read one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask, Response, request

from battlebot.api.errors import answer_error
from battlebot.api.sender import sender
from battlebot.errors import Unavailable
from battlebot.runtime.counting import Tally

LARGE = 65_536  # bytes of an answer that counts: so much fits into the system's own buffers
MOST = 134_217_728
MOST_OF_AN_ADDRESS = 33_554_432  # enough for a class that opens the page of its contest, of half a megabyte
EXTENSION = "battlebot.unread"


class Unread:
    """Counts the bytes of answers that are being sent: `most` in all, `most_of_one` of each key."""

    def __init__(self, most: int = MOST, most_of_one: int = MOST_OF_AN_ADDRESS) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._bytes = Tally()
        self._guard = threading.Lock()

    def take(self, key: str, size: int) -> bool:
        """Whether another answer of so many bytes may be sent; if so, it counts until `give_back`.

        The only one may, however large. A key that has some leaves as much free as it has then: a few together do not
        keep out those who have none.
        """
        with self._guard:
            own, free = self._bytes.get(key, 0), self._most - self._bytes.total()
            if own and own + size > min(self._most_of_one, free - size):
                return False
            if free < min(size, self._most):
                return False
            self._bytes[key] += size
            return True

    def give_back(self, key: str, size: int) -> None:
        """Counts an answer no longer."""
        with self._guard:
            self._bytes.take_off(key, size)

    @contextmanager
    def counted(self, key: str, size: int) -> Iterator[None]:
        """Counts so many bytes within the `with` block. Raises TimeoutError if these may not be kept any longer."""
        if not self.take(key, size):
            raise TimeoutError("Too much is not read yet.")
        try:
            yield
        finally:
            self.give_back(key, size)


def limit_unread(app: Flask) -> None:
    """Answer 503 instead of a large answer to GET while too many others are being sent.

    What is made while it is sent is no such answer: see `streamed` and `event_stream`.
    """
    app.extensions[EXTENSION] = Unread()

    def count(response: Response) -> Response:
        if request.method == "HEAD" or response.is_streamed:
            return response
        unread: Unread = app.extensions[EXTENSION]
        key, size = sender(), response.calculate_content_length() or 0
        if size <= LARGE:
            return response
        # who has changed something is told so in any case
        if request.method == "GET":
            if not unread.take(key, size):
                return answer_error(Unavailable("Too much of the server's answers is not read yet; try again later."))
            response.call_on_close(lambda: unread.give_back(key, size))
        response.response, response.content_length = _parts(response.get_data()), size
        return response

    app.after_request(count)


def _parts(data: bytes) -> Iterator[bytes]:
    """Yields it in parts, each of which has its own time to be read: all of a long list takes long on a slow line."""
    for begin in range(0, len(data), LARGE):
        yield data[begin : begin + LARGE]
