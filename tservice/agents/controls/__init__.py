"""Changes of a running agent's model, effort and permission mode."""
