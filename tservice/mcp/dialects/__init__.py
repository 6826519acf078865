"""What the CLIs' own MCP configuration files say, read and added to as text
(protocol-mcp-dialects)."""
