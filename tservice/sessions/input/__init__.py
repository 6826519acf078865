"""The way in: what is typed, one by one, each accepted one exactly once."""
