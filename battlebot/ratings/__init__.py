"""Ratings: how strong a bot seems in a game, by all its matches. Pure but for the service, which keeps them."""
