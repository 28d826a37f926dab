"""Sample bots. Each is a module to read, and to run: `python -m battlebot.client.samples.perfect --help`."""
