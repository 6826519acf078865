"""Detection of agents' activity, and of their readiness for prompts."""
