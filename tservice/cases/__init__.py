"""Cases: folders that sessions work in, by name."""
