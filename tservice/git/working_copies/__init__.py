"""Working trees of sessions for other features: fenced git, exact files."""
