"""Bots behind NATS on a server that has no NATS: none can be asked, and whoever names one is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NoReturn

from battlebot.errors import BadAddress
from battlebot.stateless.asking import Question, Reply
from battlebot.stateless.nats.subject import SCHEMES, subject_of


class NoNats:
    """Addresses `nats://subject`, without a line to ask over."""

    SCHEMES: ClassVar[Sequence[str]] = SCHEMES

    def check(self, address: str) -> NoReturn:
        """Raises BadAddress, for the subject if that is amiss."""
        subject_of(address)
        raise BadAddress("This server asks no bots over NATS: it has no NATS_URL.", field="url")

    def ask(self, question: Question) -> Reply:
        """Raises BadAddress: nobody can be asked."""
        self.check(question.address)

    def start(self) -> None:
        """Does nothing."""

    def is_away(self) -> bool:
        """Returns False: nothing will come back."""
        return False

    def tidy(self) -> None:
        """Does nothing."""
