-- Commit of HEAD in each repository of a session's workspace when the session began
-- (protocol-changes).
CREATE TABLE review_starts (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    repo TEXT NOT NULL,
    commit_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (session_id, repo)
) STRICT, WITHOUT ROWID;

-- Content of files that a person has seen, by its hash (protocol-changes).
CREATE TABLE review_viewed (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    repo TEXT NOT NULL,
    path TEXT NOT NULL,
    hash TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (session_id, repo, path)
) STRICT, WITHOUT ROWID;

-- Comments on lines, with the anchor that finds the lines again (protocol-review-comments).
CREATE TABLE review_comments (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    repo TEXT NOT NULL,
    path TEXT NOT NULL,
    side TEXT NOT NULL,
    line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    text TEXT NOT NULL,
    suggestion TEXT,
    state TEXT NOT NULL,
    author TEXT NOT NULL,
    anchor TEXT NOT NULL,
    hash TEXT NOT NULL,
    base_commit TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    sent_at INTEGER,
    reply_state TEXT,
    reply_text TEXT,
    replied_at INTEGER
) STRICT;
CREATE INDEX review_comments_of ON review_comments (session_id);

-- Files as they were before a revert, so that it can be undone (protocol-review-revert).
CREATE TABLE review_copies (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    repo TEXT NOT NULL,
    path BLOB NOT NULL,
    mode TEXT NOT NULL,
    content BLOB NOT NULL,
    hash TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;
CREATE INDEX review_copies_of ON review_copies (session_id);
