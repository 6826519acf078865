"""Registry of the agent CLIs that a session can run."""
