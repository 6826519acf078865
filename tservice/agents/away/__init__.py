"""Summary of what sessions did since their owner looked last (protocol-away)."""
