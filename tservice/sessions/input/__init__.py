"""Input path: every input of a session is typed in order, and each accepted one exactly once."""
