-- What agents told of themselves (protocol-hooks): the file that holds a session's conversation.
CREATE TABLE agent_sessions (
    session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    transcript_path TEXT NOT NULL
) STRICT;

-- What is used of the plan's limits, as told last: one row, JSON.
CREATE TABLE plan_usage (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    usage TEXT NOT NULL
) STRICT;
