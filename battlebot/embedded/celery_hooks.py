"""Has Celery's processes log as all others do. Importing it is enough; a worker's command line asks for it.

That pool children die with a worker that is killed needs nothing from us: Celery asks Linux for it.
"""

from __future__ import annotations

from typing import Any

from celery import signals

from battlebot.config import load_settings
from battlebot.logs import configure_logs


def _log_as_we_do(**_: Any) -> None:
    """Being connected keeps Celery from setting up logs of its own."""
    configure_logs(load_settings())


# weak=False: nothing else holds the function
signals.setup_logging.connect(_log_as_we_do, weak=False)
