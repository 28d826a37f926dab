"""Asking an address: questions, replies, coded failures, and the kinds of addresses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import msgspec

from battlebot.errors import BadAddress

TIDY_EVERY_S = 0.25
NO_ANSWER = "The bot gave no answer that counts."


class Question(msgspec.Struct, frozen=True):
    """One question to one bot. `content` is JSON, as the game makes it; the bot has `limit_s` seconds to answer.

    `is_turn(value)`: whether an answer (JSON) would be a valid turn, for kinds that must choose among several answers.
    `rated`: whether the match is; others, which anybody may begin, must not hold it up.
    """

    address: str
    game: str
    match_id: str
    bot: str
    content: Any
    limit_s: float
    is_turn: Callable[[Any], bool] = lambda value: True
    rated: bool = True


class Failure(msgspec.Struct, frozen=True):
    """Why there is no answer that counts: a stable slug and a sentence for the bot's owner.

    `late`: the bot took too long. `ours`: the server failed, and the bot must be asked again; `away`: until then the
    match waits for what is away, however long. `public`: the sentence for everybody, in events and in the record; it
    says nothing about where the bot is or what was found there.
    """

    code: str
    sentence: str
    late: bool = False
    ours: bool = False
    away: bool = False
    public: str = NO_ANSWER


class Reply(msgspec.Struct, frozen=True):
    """The outcome of a question: `value` is the answer as JSON unless there is a `failure`.

    `thinking_s`: the bot's own time in seconds, from sending the question to reading the answer. The time in which the
    bot reads the question counts.
    """

    value: Any = None
    failure: Failure | None = None
    thinking_s: float = 0.0


class AddressKind(Protocol):
    """One kind of address. `SCHEMES`: what such addresses begin with, before the `://`."""

    SCHEMES: ClassVar[Sequence[str]]

    def check(self, address: str) -> None:
        """Raises BadAddress for an address that is malformed or that the operator does not allow; sends nothing."""

    def ask(self, question: Question) -> Reply:
        """Asks and waits: for a connection, then up to `limit_s` for the answer.

        Raises BadAddress for an address that can no longer be asked, and besides only GreenletExit.
        """

    def start(self) -> None:
        """Begins what needs no question; called once, by a process that goes on asking. Does not wait."""

    def is_away(self) -> bool:
        """Returns whether no question can be asked now, whatever the address. Does not wait."""

    def tidy(self) -> None:
        """Releases what need not be kept any longer; called every `TIDY_EVERY_S`."""


class Askers:
    """Asks any address by its kind."""

    def __init__(self, *kinds: AddressKind) -> None:
        self._kinds: Mapping[str, AddressKind] = {scheme: kind for kind in kinds for scheme in kind.SCHEMES}

    def check(self, address: str) -> None:
        """Raises BadAddress unless the address can and may be asked."""
        self._kind_of(address).check(address)

    def ask(self, question: Question) -> Reply:
        """Asks an address by its kind; if it can no longer be asked, that is the bot's failure."""
        try:
            return self._kind_of(question.address).ask(question)
        except BadAddress as error:
            return Reply(failure=Failure(error.code, str(error)))

    def is_away(self, address: str) -> bool:
        """Returns whether what an address is asked through is away. Raises BadAddress."""
        return self._kind_of(address).is_away()

    def start(self) -> None:
        """Starts every kind; call once, if `tidy` will be called."""
        for kind in set(self._kinds.values()):
            kind.start()

    def tidy(self) -> None:
        """Tidies every kind; call every `TIDY_EVERY_S`."""
        for kind in set(self._kinds.values()):
            kind.tidy()

    def _kind_of(self, address: str) -> AddressKind:
        scheme = address.partition("://")[0].lower() if isinstance(address, str) and "://" in address else ""
        if scheme not in self._kinds:
            known = " or ".join(f"{scheme}://" for scheme in self._kinds)
            raise BadAddress(f"An address of a stateless bot begins with {known}.", field="url")
        return self._kinds[scheme]
