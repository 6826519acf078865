"""Custom model endpoints, and the configuration of agents to use them."""
