"""Report on the host's programs that the service uses (protocol-doctor)."""
