"""A way in from the internet, and signing in over it with one scan (protocol-tunnel)."""
