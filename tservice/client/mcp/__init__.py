"""MCP server through which agents drive sessions (protocol-mcp-tools)."""
