"""What the host has of the programs that the service works with (protocol-doctor)."""
