"""Real processes killed, paused and restarted while bots play; a checker that trusts nothing of the server's code."""
