"""The ratings' REST path is tested with the app of the API's tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "api"))

from webhouse import app, home  # noqa: F401
