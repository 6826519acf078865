"""MCP configuration files of the CLIs, parsed and extended as text (protocol-mcp-dialects)."""
