-- Accounts of multi-user mode (protocol-users), and scoped tokens.
CREATE TABLE accounts (
    username TEXT PRIMARY KEY,
    role TEXT NOT NULL CHECK (role IN ('admin', 'user')),
    password_hash TEXT NOT NULL,
    can_bypass_permissions INTEGER NOT NULL,
    enabled INTEGER NOT NULL,
    must_change_password INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- The token itself is not kept, only its SHA-256.  Lists are JSON; NULL sessions: every one.
CREATE TABLE api_tokens (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    token_hash BLOB NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    sessions TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    last_used_at INTEGER
) STRICT;

CREATE INDEX api_tokens_by_owner ON api_tokens (owner, created_at);
