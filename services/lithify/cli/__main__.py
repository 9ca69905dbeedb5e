"""`python -m lithify.cli` is the command `lithify`."""

from lithify.cli.main import run

if __name__ == "__main__":
    run()
