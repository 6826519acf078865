-- What a session did since its owner looked last (protocol-away): when that was, its cost then, and
-- the turns that ended and questions that were answered since.
CREATE TABLE session_absences (
    session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    looked_at INTEGER NOT NULL,
    cost REAL NOT NULL,
    turns INTEGER NOT NULL,
    answered INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
