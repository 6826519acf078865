-- Cookie sessions (protocol-cookies): who is signed in, so that a restart signs nobody out.
-- The cookie itself is not kept, only its SHA-256.
CREATE TABLE auth_sessions (
    id TEXT PRIMARY KEY,
    token_hash BLOB NOT NULL UNIQUE,
    username TEXT NOT NULL,
    method TEXT NOT NULL,
    address TEXT NOT NULL,
    user_agent TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
