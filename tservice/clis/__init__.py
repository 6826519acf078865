"""The registry of agent CLIs that a session can run."""
