"""Network: listening endpoints, and rules for outgoing requests."""
