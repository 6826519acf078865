"""Sessions whose processes run in containers."""
