"""What git does that changes something: clones, worktrees; and what would be lost without it."""
