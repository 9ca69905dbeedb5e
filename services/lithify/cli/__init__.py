"""The command `lithify`: data on stdout, talk on stderr, exit 1 for failure and 3 when it could not start."""
