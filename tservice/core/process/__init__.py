"""This process: its memory, alarms and early stop, and the process groups of its children."""
