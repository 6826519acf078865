"""Qwen Code as a packaged CLI."""
