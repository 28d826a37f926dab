"""Bots' names: who may use which, and who is online under it."""
