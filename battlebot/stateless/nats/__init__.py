"""Bots behind a NATS subject."""
