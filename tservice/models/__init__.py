"""Custom model endpoints, and configuring agents to use them."""
