"""An MCP server: agents drive sessions through tools (protocol-mcp-tools)."""
