"""What an operator can set: the table is in `settings`, how it is made of the environment in `loading`."""

from battlebot.config.loading import as_environment, load_settings
from battlebot.config.settings import Settings, networks_of, origins_of, own_nats_url

__all__ = [
    "Settings",
    "as_environment",
    "load_settings",
    "networks_of",
    "origins_of",
    "own_nats_url",
]
