"""Web tabs: pages of other servers, fenced in (protocol-webtabs)."""
