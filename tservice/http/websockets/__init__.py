"""WebSocket support for operations of the table."""
