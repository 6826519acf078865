"""Report on programs of the host that the service uses (protocol-doctor)."""
