"""One scenario a file: `ECHO_CONNECTIONS` of the echo it is compared with, and `run(bench)` -> its row."""
