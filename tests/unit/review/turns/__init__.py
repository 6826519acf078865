"""Files at the ends of turns."""
