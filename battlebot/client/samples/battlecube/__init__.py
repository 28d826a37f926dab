"""Sample bots for battlecube: functions from a question (as sent to HTTP bots) to tasks, over HTTP or WebSocket."""
