"""Rules of accounts that answer agents' questions."""
