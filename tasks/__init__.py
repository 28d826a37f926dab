"""Celery's tasks: each body is fetch, call, save. Nothing in battlebot imports them; they are enqueued by name."""
