"""C{GET /api/status}: everything at a glance, which is also where an event stream begins."""
