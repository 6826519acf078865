"""Git commands that change something: clones and worktrees; and the check for work that would be
lost.
"""
