"""The games: one file or folder each, found automatically; they do not know the server. README.md: how to write one."""
