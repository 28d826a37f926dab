"""What a SECRET_KEY is: one or more keys, newest first, separated by commas."""

from __future__ import annotations

from battlebot.errors import SettingError

KEY_LENGTH = 16


def are_keys(text: str) -> bool:
    """Whether it may be a SECRET_KEY: there is a key, and each is long enough."""
    return all(len(key) >= KEY_LENGTH for key in _split(text))


def keys_of(secret_key: str) -> list[str]:
    """The keys, newest first. Raises SettingError unless `are_keys`."""
    if not are_keys(secret_key):
        raise SettingError(f"SECRET_KEY must be one or more comma-separated keys of at least {KEY_LENGTH} characters.")
    return _split(secret_key)


def _split(text: str) -> list[str]:
    return [key.strip() for key in text.split(",")]
