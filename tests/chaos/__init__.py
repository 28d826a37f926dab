"""Real processes killed, paused and restarted while bots play; a checker that does not trust the server's code."""
