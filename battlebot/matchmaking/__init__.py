"""Who meets whom: the waiting queues in Redis, and the pairing of bots outside contests."""
