"""What a working folder brings that runs, and whether somebody trusts it (protocol-trust)."""
