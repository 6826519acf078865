"""Tests of the channel of Codex."""
