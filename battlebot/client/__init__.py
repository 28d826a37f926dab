"""The SDK for bot authors: write a Bot, register it, run it. It needs none of the server's code except `wire`.

from battlebot.client import Bot, load_or_register, run

class MyBot(Bot):
    def choose(self, state):
        return {"n": 3}

credentials = load_or_register("auth.json", "localhost:3000", "numberwang", "MyBot", owner="Me")
run(MyBot, "localhost:3000", "numberwang", credentials=credentials)
"""

from battlebot.client.bot import Bot, Match, Result
from battlebot.client.credentials import Credentials, load_or_register, register, renew
from battlebot.client.errors import (
    BadAddress,
    BadCredentials,
    BadTurn,
    ClientError,
    LoginFailed,
    Refused,
    Unreachable,
)
from battlebot.client.runner import run
from battlebot.client.tcp import run_tcp

__all__ = [
    "BadAddress",
    "BadCredentials",
    "BadTurn",
    "Bot",
    "ClientError",
    "Credentials",
    "LoginFailed",
    "Match",
    "Refused",
    "Result",
    "Unreachable",
    "load_or_register",
    "register",
    "renew",
    "run",
    "run_tcp",
]
