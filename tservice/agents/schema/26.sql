-- What each message of a session used, each once (protocol-session): in whichever of its transcripts
-- it stands, and however often.
CREATE TABLE message_usage (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    message TEXT NOT NULL,
    model TEXT NOT NULL,
    input INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cost REAL NOT NULL,
    at INTEGER,
    PRIMARY KEY (session_id, message)
) STRICT, WITHOUT ROWID;

-- How far further transcripts of a session were read: those of its subagents and of its earlier
-- conversations.
CREATE TABLE transcript_files (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    inode INTEGER NOT NULL,
    position INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    tally TEXT NOT NULL,
    PRIMARY KEY (session_id, path)
) STRICT, WITHOUT ROWID;

-- The sums that were kept here counted some messages more than once: all is read anew.
DELETE FROM transcripts;
