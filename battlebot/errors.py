"""Every error of ours, one tree; each has a stable `code` that goes to bots, organisers and logs.

    BattlebotError
    ├── SettingError            a setting from the environment or .env is unusable
    ├── EmbeddedError           an embedded server could not be started
    ├── BadGame                 a module in games/ breaks the contract
    ├── Refused                 what arrived from outside is not acceptable
    │   ├── UnknownGame         no such game
    │   ├── UnknownBot          no such bot
    │   ├── UnknownMatch        no such match
    │   ├── UnknownContest      no such contest
    │   ├── UnknownFormat       a file format that the game's matches do not have
    │   ├── UnknownPlayer       nobody of that name has played or been there
    │   ├── NameTaken           somebody has registered that name
    │   ├── BadName             a name that is empty, too long or not printable
    │   ├── BadAddress          a stateless bot's address is malformed, or may not be asked
    │   ├── UnansweredTest      a stateless bot does not answer its test request as it must
    │   ├── BadMessage          a frame or body that does not have the shape it must have
    │   │   └── TooBig          a frame announces more bytes than are taken
    │   ├── LoginFailed         wrong hash, unknown bot, wrong game
    │   ├── NoToken             an organiser's request comes without a token
    │   ├── BadToken            an organiser's token is unknown, expired or revoked
    │   ├── ContestClosed       the contest takes no (more) bots, or may not be opened
    │   ├── WrongState          the contest's state does not allow what is asked for
    │   ├── TooLate             the contest has gone on from what is to be undone
    │   ├── WrongOrigin         a browser sends it for a page of another origin
    │   └── TooMany             a limit of rate or number is exceeded
    └── Unavailable             Redis, MongoDB or NATS does not answer now
        ├── DiskFull            no room for anything new on MongoDB's disk
        ├── NotTested           a stateless bot could not be asked its test request, as NATS is away
        └── Conflict            another process committed first (retried, never shown)

`http_status` is the one place that maps an error to HTTP; close codes are in `wire/closing.py`.
"""

from __future__ import annotations

from typing import ClassVar


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
    """An embedded server (Valkey, mongod) could not be started."""

    code = "embedded-failed"


class BadGame(BattlebotError):
    """A module in `games/` breaks the contract of `battlebot.rules.contract`."""

    code = "bad-game"


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
    """Matches of that game cannot be had in that format."""

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
    """A stateless bot was asked, and gave no answer that counts; `test` says what became of the request."""

    code = "unanswered-test"


class BadMessage(Refused):
    """A frame or a body does not have the shape that it must have."""

    code = "bad-message"


class TooBig(BadMessage):
    """A frame announces more bytes than are taken."""

    code = "too-big"


class LoginFailed(Refused):
    """Wrong hash, unknown bot or wrong game; which of them is never said."""

    code = "login-failed"
    http_status = 401


class NoToken(Refused):
    """What is asked for is an organiser's to ask, and the request brings no bearer token."""

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
    """The state that the contest is in does not allow what is asked for."""

    code = "wrong-state"
    http_status = 409


class TooLate(Refused):
    """The contest has gone on from the match that is to be taken back: it would not be played again."""

    code = "too-late"
    http_status = 409


class WrongOrigin(Refused):
    """A page of another origin made a browser send it (cross-site WebSocket, CSRF)."""

    code = "wrong-origin"
    http_status = 403


class TooMany(Refused):
    """A limit of rate or number is exceeded."""

    code = "too-many"
    http_status = 429


class Unavailable(BattlebotError):
    """Redis, MongoDB or NATS does not answer now; the same request may succeed later."""

    code = "unavailable"
    http_status = 503


class DiskFull(Unavailable):
    """MongoDB's disk has no room for anything new; what has begun goes on."""

    code = "disk-full"


class NotTested(Unavailable):
    """The server itself failed while it asked a test request, say because NATS is away; nothing is known of the bot."""

    code = "not-tested"


class Conflict(Unavailable):
    """Another process committed a newer version first; the caller reloads and tries again."""

    code = "conflict"
