"""All errors of Battlebot, in one tree; each has a stable `code` that goes to bots, organisers and logs.

    BattlebotError
    ├── SettingError            a setting from the environment or .env is unusable
    ├── EmbeddedError           an embedded server could not be started
    ├── BadGame                 a module in games/ breaks the contract
    ├── BadFormat               a module in contests/formats/ breaks the contract
    ├── Refused                 what arrived from outside is not acceptable
    │   ├── UnknownGame         no such game
    │   ├── UnknownBot          no such bot
    │   ├── UnknownMatch        no such match
    │   ├── UnknownContest      no such contest
    │   ├── UnknownFormat       a file format that the game's matches do not have
    │   ├── UnknownPlayer       nobody of that name has played or been online
    │   ├── NameTaken           somebody has registered that name
    │   ├── BadName             a name that is empty, too long or not printable
    │   ├── BadAddress          a stateless bot's address is malformed, or may not be asked
    │   ├── UnansweredTest      a stateless bot gives no valid answer to its test request
    │   ├── BadMessage          a frame or body does not have the required shape
    │   │   └── TooBig          a frame announces more bytes than are accepted
    │   ├── LoginFailed         wrong hash, unknown bot, wrong game
    │   ├── NoToken             an organiser's or owner's request comes without a token
    │   ├── BadToken            an organiser's token is unknown, expired or revoked
    │   ├── ContestClosed       the contest takes no (more) bots, or may not be opened
    │   ├── WrongState          the contest's state does not allow the request
    │   ├── FormatMissing       the contest's format is not installed here (any more)
    │   ├── AlreadyVoid         the match that is to be taken back has been taken back already
    │   ├── TooLate             the contest has gone on too far for the match to be taken back
    │   ├── WrongOrigin         a browser sends the request for a page of another origin
    │   └── TooMany             a limit of rate or number is exceeded
    ├── UnreadableMatch         a match in Redis does not have the form that this version reads
    ├── Unavailable             Redis, MongoDB or NATS does not answer now
    │   ├── DiskFull            no room for anything new on MongoDB's disk
    │   └── NotTested           the server could not test a stateless bot, say because NATS is away
    └── Conflict                another process committed first (retried, never shown)

`http_status` is the one place that maps an error to HTTP; close codes are in `wire/closing.py`.
"""

from __future__ import annotations

from typing import ClassVar, TypeVar

Error = TypeVar("Error", bound=BaseException)


class BattlebotError(Exception):
    """Base of the tree. `str(error)` is a sentence for a person; `code` is a stable slug for a program."""

    code: ClassVar[str] = "error"
    http_status: ClassVar[int] = 500

    def __init__(self, sentence: str, **details: object) -> None:
        super().__init__(sentence)
        self.details = details

    def as_dict(self) -> dict[str, object]:
        """The body of an error answer: `{"error": sentence, "code": slug}` plus any details."""
        return {**self.details, "error": str(self), "code": self.code}


class SettingError(BattlebotError):
    """A setting from the environment or from `.env` is unusable."""

    code = "bad-setting"


class EmbeddedError(BattlebotError):
    """An embedded server (Valkey, mongod, nats-server) could not be started."""

    code = "embedded-failed"


class BadGame(BattlebotError):
    """A module in `games/` breaks the contract of `battlebot.rules.contract`."""

    code = "bad-game"


class BadFormat(BattlebotError):
    """A module in `contests/formats/` does not import, or breaks the contract of `contests.formats.contract`."""

    code = "bad-format"


class Refused(BattlebotError):
    """What arrived from outside is not acceptable; nothing was changed."""

    code = "refused"
    http_status = 400


class UnknownGame(Refused):
    """No game of that name is registered."""

    code = "unknown-game"
    http_status = 404


class UnknownBot(Refused):
    """No bot of that name is registered for the game."""

    code = "unknown-bot"
    http_status = 404


class UnknownMatch(Refused):
    """No finished or live match has that id."""

    code = "unknown-match"
    http_status = 404


class UnknownContest(Refused):
    """No contest of that name exists in that game."""

    code = "unknown-contest"
    http_status = 404


class UnknownFormat(Refused):
    """Matches of that game are not available in that format."""

    code = "unknown-format"
    http_status = 404


class UnknownPlayer(Refused):
    """Nobody of that name has played the game, is registered for it, or has been at its door."""

    code = "unknown-player"
    http_status = 404


class NameTaken(Refused):
    """A bot of that name is registered already; names are unique over the whole server."""

    code = "name-taken"
    http_status = 409


class BadName(Refused):
    """A name is empty, longer than 64 characters, or holds characters that a name may not hold."""

    code = "bad-name"


class BadAddress(Refused):
    """A stateless bot's address is malformed, or leads where the server may not go."""

    code = "bad-address"


class UnansweredTest(Refused):
    """A stateless bot gave no valid answer to its test request; the detail `test` is the request's result."""

    code = "unanswered-test"


class BadMessage(Refused):
    """A frame or a body does not have the required shape."""

    code = "bad-message"


class TooBig(BadMessage):
    """A frame announces more bytes than are accepted."""

    code = "too-big"


class LoginFailed(Refused):
    """Wrong hash, unknown bot or wrong game; which of them is never said."""

    code = "login-failed"
    http_status = 401


class NoToken(Refused):
    """Only organisers, or a bot's owner, may make this request, and it has no bearer token."""

    code = "no-token"
    http_status = 401


class BadToken(Refused):
    """The bearer token is unknown, expired or revoked; which of them is never said."""

    code = "bad-token"
    http_status = 401


class ContestClosed(Refused):
    """The contest takes no bots now, or may not be opened by a login."""

    code = "contest-closed"
    http_status = 409


class WrongState(Refused):
    """The contest's state does not allow the request."""

    code = "wrong-state"
    http_status = 409


class FormatMissing(Refused):
    """The stored contest has a format that is not installed here; what does not need the format works."""

    code = "format-missing"
    http_status = 409


class AlreadyVoid(Refused):
    """The match that is to be taken back counts for nobody already: the same request was made before, for example."""

    code = "already-void"
    http_status = 409


class TooLate(Refused):
    """The contest has gone on since the match that is to be taken back: it would not be played again."""

    code = "too-late"
    http_status = 409


class WrongOrigin(Refused):
    """A page of another origin made a browser send the request (cross-site WebSocket, CSRF)."""

    code = "wrong-origin"
    http_status = 403


class TooMany(Refused):
    """A limit of rate or number is exceeded."""

    code = "too-many"
    http_status = 429


class UnreadableMatch(BattlebotError):
    """A match in Redis does not have the form that this version reads: another one may have written it."""

    code = "unreadable-match"


class Unavailable(BattlebotError):
    """Redis, MongoDB, NATS or a process of ours does not answer now; the same request may succeed later."""

    code = "unavailable"
    http_status = 503


class DiskFull(Unavailable):
    """MongoDB's disk has no room for anything new; what has begun goes on."""

    code = "disk-full"


class NotTested(Unavailable):
    """The server itself failed during a test request, say because NATS is away: this says nothing about the bot."""

    code = "not-tested"


class Conflict(BattlebotError):
    """Another process committed a newer version first; the caller reloads and tries again."""

    code = "conflict"


def without_traceback(error: Error) -> Error:
    """Returns the error, after it and those that led to it have forgotten which calls they went through.

    For one that outlives its handling. A call holds its callers and what they work on, such as a request; where one of
    them holds the error in turn, all would stay in memory until the collector runs, which in a part is seldom.
    """
    chain: list[BaseException | None] = [error]
    seen = set[int]()
    while chain:
        one = chain.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            one.__traceback__ = None
            chain += (one.__cause__, one.__context__)
    return error
