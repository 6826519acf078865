"""Tests for the MCP server of C{tsctl}."""
