"""Whether a program's shared libraries are there: small systems come without some that the wheels' programs ask for."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

_TRY_S = 10.0


def runs(program: Path, environment: Mapping[str, str]) -> bool:
    """Whether the program can be begun with these variables, as far as saying its version shows it."""
    try:
        tried = subprocess.run(
            [program, "--version"], env=environment, capture_output=True, timeout=_TRY_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tried.returncode == 0
