"""Review of the changes that a session made: reading, commenting, undoing, committing."""
