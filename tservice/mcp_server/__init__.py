"""MCP server over HTTP, with the tools of L{tservice.client.mcp} (protocol-mcp-http)."""
