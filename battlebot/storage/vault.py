"""Encrypts the bots' `pass_hash` at rest: the login needs it in clear, so it cannot be hashed. No storage here."""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from battlebot.config import keys_of
from battlebot.errors import SettingError


class Vault:
    """Seals and opens short secrets with keys derived from those of SECRET_KEY."""

    def __init__(self, secret_key: str) -> None:
        """Raises SettingError as `keys_of` does."""
        self._fernet = MultiFernet([Fernet(_derived(key)) for key in keys_of(secret_key)])

    def seal(self, secret: str) -> bytes:
        """The secret, encrypted with the newest key."""
        return self._fernet.encrypt(secret.encode())

    def open(self, sealed: bytes) -> str:
        """The secret in clear. Raises SettingError if no key of ours fits: SECRET_KEY was changed."""
        try:
            return self._fernet.decrypt(sealed).decode()
        except InvalidToken:
            raise SettingError("SECRET_KEY does not open the stored credentials; was it changed?") from None


def _derived(key: str) -> bytes:
    derivation = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"battlebot credentials")
    return base64.urlsafe_b64encode(derivation.derive(key.encode()))
