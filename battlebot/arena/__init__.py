"""Live matches: kept in Redis (`live`), delivered to the bots of this node (`node`), who have `names`."""
