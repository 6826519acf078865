"""Pi as a packaged CLI."""
