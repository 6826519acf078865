"""Gemini CLI as a packaged CLI."""
