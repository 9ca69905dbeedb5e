"""The mathematics of memory: pure functions, no I/O, no clock, no global state."""
