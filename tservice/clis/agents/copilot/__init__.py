"""GitHub Copilot CLI as a packaged CLI."""
