"""Activity of agents, and their readiness for prompts."""
