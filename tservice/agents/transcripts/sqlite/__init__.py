"""Reader of the SQLite databases that agents write, in a child process."""
