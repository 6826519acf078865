-- Checks of a case, as JSON, with the folder that the case had (protocol-checks).  The owner is
-- empty where there are no accounts.
CREATE TABLE case_checks (
    owner TEXT NOT NULL,
    name TEXT NOT NULL COLLATE NOCASE,
    path TEXT NOT NULL,
    checks TEXT NOT NULL,
    on_failure TEXT NOT NULL,
    max_attempts INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    updated_by TEXT NOT NULL,
    PRIMARY KEY (owner, name)
) STRICT;

-- Runs of checks in sessions, with the results as JSON (protocol-checks).
CREATE TABLE check_runs (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    state TEXT NOT NULL,
    "trigger" TEXT NOT NULL,
    follow_up TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    reason TEXT,
    created_at INTEGER NOT NULL,
    finished_at INTEGER,
    results TEXT NOT NULL
) STRICT;
CREATE INDEX check_runs_of ON check_runs (session_id);

-- The workspace at the last run of a session, and how often its agent was asked in a row.
CREATE TABLE check_progress (
    session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    workspace TEXT,
    attempts INTEGER NOT NULL,
    is_stopped INTEGER NOT NULL,
    has_given_up INTEGER NOT NULL
) STRICT;
