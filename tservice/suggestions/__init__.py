"""Suggestions for the next prompt, from goals, past prompts and session state (protocol-intent)."""
