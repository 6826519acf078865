-- Files of a session's repositories at the end of a turn, as far as they differ from the commit of
-- HEAD (protocol-changes).
CREATE TABLE review_turns (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    repo TEXT NOT NULL,
    commit_id TEXT NOT NULL,
    PRIMARY KEY (session_id, at, repo)
) STRICT, WITHOUT ROWID;

CREATE TABLE review_turn_files (
    session_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    repo TEXT NOT NULL,
    path BLOB NOT NULL,
    mode TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (session_id, at, repo, path),
    FOREIGN KEY (session_id, at, repo) REFERENCES review_turns ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX review_turn_files_by_hash ON review_turn_files (session_id, hash);

-- Compressed contents of these files, each once for all turns of a session.
CREATE TABLE review_turn_contents (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    hash TEXT NOT NULL,
    size INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (session_id, hash)
) STRICT;
