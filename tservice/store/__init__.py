"""SQLite: opening, upgrading and backing up the one database file."""
