"""The uids of histories that are sent to bots: a secret per bot and match, by which the bot's answers are recognised.

A uid is the same for all questions to that bot in that match, in every process of a server. Exports use the match's id.
"""

from __future__ import annotations

import hashlib
import hmac

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from battlebot.config import keys_of
from battlebot.errors import SettingError


class Uids:
    """Derives uids from SECRET_KEY; from the newest key if there are several."""

    def __init__(self, secret_key: str) -> None:
        """Raises SettingError if there is no key, or as `keys_of` does."""
        if not secret_key:
            raise SettingError("Bots over NATS need a SECRET_KEY: their answers are known by it.")
        newest = keys_of(secret_key)[0]
        derivation = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"battlebot histories sent to bots")
        self._key = derivation.derive(newest.encode())

    def of(self, match_id: str, bot: str) -> str:
        """The `uid` of the histories that the bot is sent in the match: 64 hexadecimal digits."""
        return hmac.new(self._key, f"{match_id}\0{bot}".encode(), hashlib.sha256).hexdigest()
