"""A module's servers, and bots at them, as in tests/e2e."""

from doors import meet, servers, sit, web, workers  # noqa: F401
