"""Claude Code as a packaged CLI."""
