"""Bots behind an HTTP address."""
