"""Client connections: HTTP/1.1 with limits."""
