"""Git commands that write (clones and worktrees), and checks for work that a removal would lose."""
