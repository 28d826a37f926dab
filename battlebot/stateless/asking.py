"""What it means to ask an address: a question, a reply or a coded failure; and the kinds of addresses there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import msgspec

from battlebot.errors import BadAddress

TIDY_EVERY_S = 0.25
NO_ANSWER = "The bot gave no answer that counts."


class Question(msgspec.Struct, frozen=True):
    """One question to one bot. `content` is JSON, as the game says it; the bot has `limit_s` seconds to answer.

    `is_turn(value)`: whether an answer (JSON) would be a valid turn, for kinds that have to choose among several.
    """

    address: str
    game: str
    match_id: str
    bot: str
    content: Any
    limit_s: float
    is_turn: Callable[[Any], bool] = lambda value: True


class Failure(msgspec.Struct, frozen=True):
    """Why there is no answer that counts: a stable slug and a sentence for the bot's owner.

    `late`: the bot took too long. `ours`: it is the server that failed, and the bot is to be asked again. `public` is
    what everybody is told, in events and in the record: nothing of where the bot is, nor of what was found there.
    """

    code: str
    sentence: str
    late: bool = False
    ours: bool = False
    public: str = NO_ANSWER


class Reply(msgspec.Struct, frozen=True):
    """What became of a question: `value` is the answer as JSON unless there is a `failure`.

    `thinking_s` is the bot's own time: from the question sent to the answer read; to read the question is part of it.
    """

    value: Any = None
    failure: Failure | None = None
    thinking_s: float = 0.0


class Kind(Protocol):
    """One kind of addresses. `SCHEMES` are what they begin with, before the `://`."""

    SCHEMES: ClassVar[Sequence[str]]

    def check(self, address: str) -> None:
        """Raises BadAddress for one that is malformed, or that the operator does not allow; asks nobody."""

    def ask(self, question: Question) -> Reply:
        """Asks and waits, for `limit_s` and a little more at most. Never raises but what ends a greenlet."""

    def tidy(self) -> None:
        """Called every `TIDY_EVERY_S`: lets go of what is not to be kept any longer."""


class Askers:
    """Asks any address by its kind."""

    def __init__(self, *kinds: Kind) -> None:
        self._kinds: Mapping[str, Kind] = {scheme: kind for kind in kinds for scheme in kind.SCHEMES}

    def check(self, address: str) -> None:
        """Raises BadAddress unless it is one that can, and may, be asked."""
        self._kind_of(address).check(address)

    def ask(self, question: Question) -> Reply:
        """The reply; what has become an address that cannot be asked is the bot's failure."""
        try:
            kind = self._kind_of(question.address)
        except BadAddress as error:
            return Reply(failure=Failure(error.code, str(error)))
        return kind.ask(question)

    def tidy(self) -> None:
        """To be called every `TIDY_EVERY_S`."""
        for kind in set(self._kinds.values()):
            kind.tidy()

    def _kind_of(self, address: str) -> Kind:
        scheme = address.partition("://")[0].lower() if isinstance(address, str) and "://" in address else ""
        if scheme not in self._kinds:
            known = " or ".join(f"{scheme}://" for scheme in self._kinds)
            raise BadAddress(f"An address of a stateless bot begins with {known}.", field="url")
        return self._kinds[scheme]
