"""Ratings: how strong a bot seems in a game, from all its matches. Pure except for the service, which stores them."""
