"""Status, commits and diffs of one repository."""
