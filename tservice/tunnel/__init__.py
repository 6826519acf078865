"""Public tunnel from the internet to the service, and sign-in with a QR code (protocol-tunnel)."""
