"""`lithify doctor`: the checks of an installation and of what it talks to."""
