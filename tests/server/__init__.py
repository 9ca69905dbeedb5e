"""Every part as a process of its own, against real servers."""
