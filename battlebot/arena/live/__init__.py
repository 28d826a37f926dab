"""Live matches in Redis: begun, stepped by the referee, committed, swept, archived. Knows no connection of a bot."""
