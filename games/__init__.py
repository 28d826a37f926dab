"""The games: one file or folder each, found by itself; they know nothing of the server. README.md: how to write one."""
