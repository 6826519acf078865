"""MCP servers that one CLI has, added to the others (protocol-mcp-sync)."""
