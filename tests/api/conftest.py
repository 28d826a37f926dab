"""The API is tested over an app of its own, on real stores."""

from __future__ import annotations

from webhouse import client, home, settings  # noqa: F401
