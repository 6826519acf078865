-- Whether something was submitted to a session's agent of which no end was told yet
-- (protocol-status).
ALTER TABLE sessions ADD COLUMN turn_open INTEGER NOT NULL DEFAULT 0;

-- Prompts that were typed and perhaps not submitted: their texts may stand in composers that outlive
-- the service (protocol-prompts).
CREATE TABLE input_doubts (
    position INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    data BLOB NOT NULL,
    client_id TEXT,
    seq INTEGER,
    submitted_at INTEGER,
    message TEXT NOT NULL,
    passed INTEGER NOT NULL,
    UNIQUE (session_id, id)
) STRICT;
