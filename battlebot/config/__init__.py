"""What an operator can set: the table is in `settings`; `loading` fills it from the environment."""

from battlebot.config.loading import as_environment, load_settings, unknown_variables
from battlebot.config.natslogin import NatsLogin, nats_login
from battlebot.config.origins import is_allowed, is_allowed_bot, is_allowed_viewer, is_rebound
from battlebot.config.secretkey import are_keys, keys_of
from battlebot.config.settings import Settings, is_private, networks_of, own_nats_url

__all__ = [
    "NatsLogin",
    "Settings",
    "are_keys",
    "as_environment",
    "is_allowed",
    "is_allowed_bot",
    "is_allowed_viewer",
    "is_private",
    "is_rebound",
    "keys_of",
    "load_settings",
    "nats_login",
    "networks_of",
    "own_nats_url",
    "unknown_variables",
]
