"""Who meets whom outside contests, and who is missing."""
