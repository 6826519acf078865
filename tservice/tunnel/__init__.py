"""Tunnel from the internet to the service, and sign-in by a QR code (protocol-tunnel)."""
