"""Opencode as a packaged CLI."""
