-- Sessions and their input (protocol-sessions).  Columns are the fields of sessions.model.Session;
-- nested records, lists and maps are JSON.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    mode TEXT NOT NULL,
    name TEXT NOT NULL,
    name_source TEXT NOT NULL,
    working_dir TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_activity_at INTEGER NOT NULL,
    phase TEXT NOT NULL,
    status TEXT NOT NULL,
    status_reason TEXT,
    pid INTEGER,
    owner TEXT,
    case_name TEXT,
    last_submit_at INTEGER,
    parent_session_id TEXT,
    agent_origin TEXT,
    position INTEGER NOT NULL,
    colour TEXT NOT NULL,
    pinned INTEGER NOT NULL,
    pinned_at INTEGER,
    cols INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    auto_compact TEXT NOT NULL,
    auto_clear TEXT NOT NULL,
    auto_resume TEXT NOT NULL,
    limit_paused INTEGER NOT NULL,
    nice TEXT NOT NULL,
    flicker_filter INTEGER NOT NULL,
    tokens TEXT NOT NULL,
    total_cost REAL NOT NULL,
    context_used_percentage REAL,
    models TEXT NOT NULL,
    params TEXT NOT NULL,
    env_overrides TEXT NOT NULL,
    custom_model TEXT,
    conversation_ids TEXT NOT NULL,
    pane_exit TEXT,
    location TEXT NOT NULL,
    remote TEXT,
    container TEXT,
    hooks_available INTEGER NOT NULL,
    statusline_telemetry INTEGER NOT NULL
) STRICT;

-- The highest sequence number that was accepted from each client of a session
-- (protocol-exactly-once).
CREATE TABLE input_marks (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    client_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (session_id, client_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX input_marks_by_use ON input_marks (session_id, used);

-- The input that is being typed: at most one for each session, because they are typed one by one.
CREATE TABLE input_journal (
    session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    data BLOB NOT NULL,
    client_id TEXT,
    seq INTEGER,
    previous_seq INTEGER
) STRICT;
