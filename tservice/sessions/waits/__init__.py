"""Long polls: waits for a signal, a text, or a group of sessions."""
