"""WebSockets of the operations table."""
