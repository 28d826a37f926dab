"""What one process is made of: timers, gates, locks, threads, its own lateness and health. No store and no match."""
