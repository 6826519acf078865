"""Remote hosts that sessions run on, reached by ssh (protocol-remote)."""
