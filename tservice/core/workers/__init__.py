"""Thread pools for blocking work, one pool for each kind of work."""
