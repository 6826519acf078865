"""This process itself, with its memory, alarms and early end, and the groups of its children."""
