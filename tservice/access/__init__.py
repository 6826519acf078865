"""Authentication: passwords, cookie sessions, failure counts."""
