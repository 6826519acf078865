"""Typing of accepted input: raw bytes, lines, and prompts that are submitted and confirmed."""
