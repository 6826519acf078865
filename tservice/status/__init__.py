"""C{GET /api/status}: the complete state, with which an event stream begins."""
