-- Timed runs (protocol-legacy), in the order in which they were made.  logs is a JSON list.
CREATE TABLE timed_runs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    owner TEXT,
    prompt TEXT NOT NULL,
    working_dir TEXT NOT NULL,
    duration_minutes INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    end_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    session_id TEXT,
    turns INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    logs TEXT NOT NULL
) STRICT;
