"""What a host gets to see: one promise a test, over HTTP, on a whole node with the default model."""
