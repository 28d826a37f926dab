"""`python -m battlebot` is the `battlebot` command."""

from battlebot.cli import main

if __name__ == "__main__":
    main()
