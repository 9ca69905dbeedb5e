"""`lithify docs`: commands for the documents of repositories."""
