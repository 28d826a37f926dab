"""Live matches: kept in Redis, stepped by the referee, delivered to the bots' connections wherever they are."""
