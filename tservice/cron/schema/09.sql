-- Scheduled jobs (protocol-cron-job).  The definition is JSON: it is read and written whole.
CREATE TABLE cron_jobs (
    id TEXT PRIMARY KEY,
    owner TEXT,
    definition TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    last_run_at INTEGER,
    next_run_at INTEGER,
    last_status TEXT,
    last_due_key TEXT,
    completed_once INTEGER NOT NULL,
    covered INTEGER NOT NULL,
    skipping INTEGER NOT NULL
) STRICT;

-- Their runs, numbered in the order in which they were made.  A due key is there once: what was
-- planned for a moment cannot be made twice.
CREATE TABLE cron_runs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    job_id TEXT NOT NULL REFERENCES cron_jobs (id) ON DELETE CASCADE,
    trigger TEXT NOT NULL,
    status TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    finished_at INTEGER,
    session_id TEXT,
    session_name TEXT,
    error_message TEXT,
    due_key TEXT UNIQUE,
    delivery TEXT
) STRICT;

CREATE INDEX cron_runs_by_job ON cron_runs (job_id, seq);
