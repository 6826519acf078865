"""Git operations on workspaces: read status and diffs, clone repositories, and manage worktrees."""
