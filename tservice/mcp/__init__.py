"""MCP servers that one CLI has, added to the others (interface.md MCP server sync)."""
