"""MCP configuration formats of the CLIs. Files are parsed, and extended as text
(protocol-mcp-dialects).
"""
