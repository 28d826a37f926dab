"""The pages are tested with the same app as the API."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "api"))

from browsing import address, browser  # noqa: F401
from webhouse import app, client, home  # noqa: F401
