"""The types of the arguments of `run`, `run_tcp` and `register`, which are checked before anything is connected."""

from __future__ import annotations

import os
import ssl
from numbers import Integral, Real
from typing import Any

TEXT = ((str,), "a text")
TEXT_OR_NONE = ((str, type(None)), "a text or None")
NUMBER_OR_NONE = ((Integral, type(None)), "a whole number or None")

KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "host": TEXT,
    "game": TEXT,
    "name": TEXT,
    "bot_id": TEXT,
    "contest": TEXT_OR_NONE,
    "owner": TEXT_OR_NONE,
    "pass_hash": TEXT_OR_NONE,
    "credentials": ((str, os.PathLike), "what `register` returned, or the auth file's path"),
    "matches": NUMBER_OR_NONE,
    "boards": NUMBER_OR_NONE,
    "keep": ((bool,), "True or False"),
    "idle_timeout_s": ((Real, type(None)), "a number of seconds or None"),
    "tls": ((ssl.SSLContext, type(None)), "an ssl.SSLContext or None"),
}


def check_arguments(**given: Any) -> None:
    """Raises TypeError for the first argument that is not of its type; what it would do otherwise comes too late."""
    for name, value in given.items():
        types, what = KINDS[name]
        # to Python, True is a number
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            # its value may be a secret
            raise TypeError(f"{name} must be {what}, not {type(value).__name__}.")
