"""Authentication: accounts, passwords, cookie sessions, failure counts."""
