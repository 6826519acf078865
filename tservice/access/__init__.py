"""Who may come in: passwords, cookie sessions, failure buckets."""
