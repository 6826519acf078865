"""Synchronization of MCP servers between the configuration files of the CLIs
(protocol-mcp-sync).
"""
