"""The SDK's errors, one tree.

    ClientError
    ├── BadAddress          the host is not an address the SDK understands
    ├── BadCredentials      the auth file is missing, unreadable, or another bot's or game's
    ├── BadTurn             `choose` returned something that is not a JSON object
    ├── Unreachable         no Battlebot server at the address, or its certificate is not trusted
    └── Refused             the server refused; `code` is its stable slug
        └── LoginFailed     wrong credentials, unknown bot or wrong game

`ConnectionLost` is not in the tree: the SDK handles it by connecting again, so authors never see it.
"""

from __future__ import annotations


class ClientError(Exception):
    """Base of the tree; `str(error)` is a sentence for the bot's author."""


class BadAddress(ClientError):
    """The host is not an address the SDK understands."""


class BadCredentials(ClientError):
    """The auth file is missing, unreadable, or another bot's or game's."""


class BadTurn(ClientError):
    """`choose` returned something that is not a JSON object."""


class Unreachable(ClientError):
    """There is no Battlebot server at the address, or its certificate is not trusted."""


class Refused(ClientError):
    """The server refused, and trying again would not help; `code` is its stable slug, such as `name-taken`."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(f"{sentence} ({code})" if code else sentence)
        self.code = code
        self.sentence = sentence


class LoginFailed(Refused):
    """Wrong credentials, unknown bot or wrong game; the server does not say which."""


class ConnectionLost(Exception):
    """The connection ended: `close_code` and `reason` of the close frame, or None and a description of the error."""

    def __init__(self, close_code: int | None, reason: str) -> None:
        super().__init__(f"closed with {close_code}: {reason or 'no reason given'}" if close_code else reason)
        self.close_code = close_code
        self.reason = reason

    @property
    def slug(self) -> str:
        """What the reason has before the first colon and space: the server's slug; without one, nothing."""
        return self.reason.partition(": ")[0] if ": " in self.reason else ""
