"""Long polls: calls that wait for a signal, for output, or for a group of sessions."""
