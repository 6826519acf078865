"""Client connections: HTTP/1.1 and HTTP/2, with limits."""
