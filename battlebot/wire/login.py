"""The first three messages of the WebSocket door: salt, login, authentication. No sockets, no storage."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from typing import Any

from battlebot.errors import BadMessage, BadName
from battlebot.wire.jsontext import decode_object
from battlebot.wire.names import checked_name

HEX64 = re.compile(r"[0-9a-f]{64}", re.IGNORECASE | re.ASCII)
MATCH_ID = re.compile(r"[0-9a-f]{24}", re.ASCII)


def new_secret() -> str:
    """64 hex digits from a CSPRNG: a salt, or a bot's pass_hash."""
    return secrets.token_hex(32)


def login_hash(pass_hash: str, salt: str) -> str:
    """The proof that a bot knows its pass_hash: hex sha256 of `pass_hash + salt`."""
    return hashlib.sha256((pass_hash + salt).encode()).hexdigest()


def hash_fits(given: str, pass_hash: str, salt: str) -> bool:
    """Whether `given` is the login hash, in either case; compares in constant time."""
    return hmac.compare_digest(given.lower().encode(), login_hash(pass_hash, salt).encode())


@dataclass(frozen=True, slots=True)
class Login:
    """A bot's login. `protocol` 1 is that of the originals; 2 opts in to notices, `keep` and `resume`.

    `version` is that of the last update that the bot has seen in the match it resumes.
    """

    game: str
    bot_id: str
    login_hash: str = field(repr=False)
    contest: str | None = None
    protocol: int = 1
    keep: bool = False
    resume: str | None = None
    version: int | None = None

    @property
    def is_well_formed(self) -> bool:
        """Whether its login_hash is 64 hex digits, or there is none."""
        return not self.login_hash or HEX64.fullmatch(self.login_hash) is not None

    @classmethod
    def decode(cls, text: str | bytes, max_nesting: int) -> Login:
        """Decode a login message. Raises BadMessage or BadName, naming the wrong field."""
        message = decode_object(text, max_nesting)
        game, bot_id, hashed = (message.get(key) for key in ("game", "bot_id", "login_hash"))
        for key, value in (("game", game), ("bot_id", bot_id), ("login_hash", hashed)):
            if not isinstance(value, str) or not value:
                raise BadMessage(f"A login needs {key}, a string.", field=key)
        if not HEX64.fullmatch(str(hashed)):
            raise BadMessage("login_hash must be 64 hex digits.", field="login_hash")
        return cls(
            game=str(game),
            bot_id=checked_name(bot_id, "bot_id"),
            login_hash=str(hashed),
            contest=_contest(message.get("contest")),
            **_second_protocol(message),
        )


def _contest(value: object) -> str | None:
    # original clients send "" if their user named no contest
    if value is None or value == "":
        return None
    try:
        return checked_name(value, "contest")
    except BadName as error:
        raise BadMessage(str(error), field="contest") from None


def _second_protocol(message: dict[str, Any]) -> dict[str, Any]:
    if message.get("protocol") != 2:
        return {}
    resume = message.get("resume")
    if resume is not None and not (isinstance(resume, str) and MATCH_ID.fullmatch(resume)):
        raise BadMessage("resume must be a match's id.", field="resume")
    if message.get("session") not in (None, "keep", "single"):
        raise BadMessage('session must be "keep" or "single".', field="session")
    version = message.get("version")
    if version is not None and (type(version) is not int or version < 0):
        raise BadMessage("version must be that of an update: a whole number, as 3 and not as 3.0.", field="version")
    return {"protocol": 2, "keep": message.get("session") == "keep", "resume": resume, "version": version}


def authentication_ok(login: Login) -> dict[str, Any]:
    """The reply to a successful login: as in the original, with `contest` only if there is one."""
    reply: dict[str, Any] = {"authentication": "OK", "game": login.game, "bot_id": login.bot_id}
    if login.contest is not None:
        reply["contest"] = login.contest
    return reply


def authentication_failed(sentence: str, code: str) -> dict[str, Any]:
    """The reply to a failed login."""
    return {"authentication": "failed", "error": sentence, "code": code}
