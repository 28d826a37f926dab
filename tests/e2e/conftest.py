"""A module's servers, and bots at them."""

from doors import meet, servers, sit, web, workers  # noqa: F401
