"""Synchronization of MCP servers between the CLIs (protocol-mcp-sync)."""
