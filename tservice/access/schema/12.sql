-- A browser's cookie has a key beside it, of which the SHA-256 is kept (NULL: a program's, which
-- has none), and dies with the password that it was made under, which the seal tells from others.
-- The cookies of before had neither, so they end here.
DROP TABLE auth_sessions;
CREATE TABLE auth_sessions (
    id TEXT PRIMARY KEY,
    token_hash BLOB NOT NULL UNIQUE,
    key_hash BLOB,
    seal BLOB NOT NULL,
    username TEXT NOT NULL,
    method TEXT NOT NULL,
    address TEXT NOT NULL,
    user_agent TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
