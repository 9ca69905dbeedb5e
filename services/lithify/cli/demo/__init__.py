"""`lithify demo`: a tour of the system on a node of its own."""
