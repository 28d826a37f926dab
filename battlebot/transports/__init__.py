"""The doors: one thin adapter each around `pump`, which holds one bot's conversation."""
