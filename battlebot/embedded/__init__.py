"""The servers and processes that `battlebot serve` starts: a private Valkey and mongod, and Battlebot's own parts.

`stores.embedded_stores` and `server.running` are the two ways in. Nothing here knows what a match is.
"""
