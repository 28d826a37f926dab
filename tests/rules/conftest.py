"""Folders of games written for one test."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

_numbers = count(1)


@pytest.fixture
def package_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Returns a writer of files, name -> text, into an importable package; it returns the package's name."""

    def write(**files: str) -> str:
        # a unique name, since Python caches what it has imported
        name = f"games_of_test_{next(_numbers)}"
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        for stem, text in files.items():
            (folder / f"{stem}.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        return name

    return write
