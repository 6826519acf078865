"""Long polls: for a signal, for a text, for a fleet."""
