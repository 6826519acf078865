"""Users' settings: the file that holds them, and their routes."""
