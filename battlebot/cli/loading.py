"""What commands have in common: the settings, with the logs set up by them, and the option for a data folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from battlebot.config import Settings

of_data = click.option(
    "--data", type=click.Path(path_type=Path), help="Data folder of the server, if MONGODB_URI is not set."
)


def load(**overrides: Any) -> Settings:
    """The settings, as `load_settings` reads them; logs go by them, and name variables that nothing reads.

    Raises SettingError.
    """
    from battlebot.cli.database import check_mongodb_uri
    from battlebot.config import load_settings, unknown_variables
    from battlebot.logs import configure_logs

    settings = load_settings(**overrides)
    configure_logs(settings)
    check_mongodb_uri(settings)
    import structlog  # not before `battlebot.logs`, which has it load less

    for name, nearest in unknown_variables().items():
        structlog.get_logger().warning("setting.unknown", variable=name, nearest=nearest)
    return settings
