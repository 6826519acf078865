"""Codex as a packaged CLI."""
