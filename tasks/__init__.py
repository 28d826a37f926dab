"""Celery's tasks: each body is fetch, call, save. Nothing of battlebot imports them; they are enqueued by name."""
