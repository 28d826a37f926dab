"""Celery's tasks: a body is fetch, call, save. Nothing in battlebot imports them; they are enqueued by name.

Two decide more: `matches`, which matches are stored together, and which is set aside; `contests`, where its sweep
pairs, and which meetings it gives up.
"""
