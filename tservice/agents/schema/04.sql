-- The approval inbox (protocol-approvals): one row a session, so that its numbers never come twice.
CREATE TABLE approvals (
    session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    item TEXT
) STRICT;
-- How far each session's transcript was read, and what was found so far (protocol-conversations,
-- protocol-automatic).
CREATE TABLE transcripts (
    session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    inode INTEGER NOT NULL,
    position INTEGER NOT NULL,
    tally TEXT NOT NULL
) STRICT;
