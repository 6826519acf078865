"""Log lines, without secrets."""
