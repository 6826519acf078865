"""SQLite database of the service: opening, upgrading and backing up its one file."""
