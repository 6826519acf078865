"""Detection of agents that hang (protocol-stalls)."""
