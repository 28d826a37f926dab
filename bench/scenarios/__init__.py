"""One scenario per file: `ECHO_CONNECTIONS`, the connections of the echo for comparison, and `run(bench)` -> row."""
