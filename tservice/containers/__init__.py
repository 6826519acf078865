"""Sessions in containers."""
