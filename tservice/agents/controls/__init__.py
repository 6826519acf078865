"""Model, effort and permission mode of a running agent."""
