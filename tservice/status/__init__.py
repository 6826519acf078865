"""Route C{GET /api/status} with the complete initial state, which also begins an event stream."""
