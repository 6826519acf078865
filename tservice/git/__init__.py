"""Read-only git status and diffs of a session's workspace."""
