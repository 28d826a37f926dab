"""The API is tested with an app of its own, over real stores."""

from __future__ import annotations

from webhouse import app, client, home  # noqa: F401
