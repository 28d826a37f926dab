"""Imports of libraries without the packages that these load where they find them, and that are not used here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def without(*packages: str) -> Iterator[None]:
    """While it lasts, an import of one of `packages` raises ImportError as if it were not installed.

    One that is loaded already stays as it is. For module level: other threads' imports are affected as well.
    """
    modules: dict[str, Any] = sys.modules
    hidden = [package for package in packages if package not in modules]
    # None in the place of a module: https://docs.python.org/3/reference/import.html#the-module-cache
    modules.update(dict.fromkeys(hidden))
    try:
        yield
    finally:
        for package in hidden:
            del modules[package]
