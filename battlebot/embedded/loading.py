"""Whether a program's shared libraries are present: small systems lack some that the wheels' programs need."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

_TRY_S = 10.0


def runs(program: Path, environment: Mapping[str, str]) -> bool:
    """Whether the program starts with these environment variables, judged by a call with `--version`."""
    try:
        tried = subprocess.run(
            [program, "--version"], env=environment, capture_output=True, timeout=_TRY_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tried.returncode == 0
