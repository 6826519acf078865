"""Input path: types the inputs of a session in order, each accepted input exactly once."""
