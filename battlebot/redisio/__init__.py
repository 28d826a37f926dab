"""Redis as such: the names of its keys, connections, scripts, pub/sub, locks, task lists. Knows no match."""
