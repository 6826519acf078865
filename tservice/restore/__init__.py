"""Sessions brought back after the machine went down (protocol-restore)."""
