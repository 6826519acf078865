"""Web tabs: isolated pages of other servers (protocol-webtabs)."""
