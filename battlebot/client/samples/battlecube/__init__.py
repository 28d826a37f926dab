"""Sample bots of battlecube: functions from a question (as HTTP bots are asked) to tasks; over HTTP or WebSocket."""
