-- Base with which a person compares the changes in a workspace, for all its sessions
-- (protocol-changes).
CREATE TABLE review_bases (
    owner TEXT NOT NULL,
    place TEXT NOT NULL,
    folder TEXT NOT NULL,
    repo TEXT NOT NULL,
    base TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (owner, place, folder, repo)
) STRICT, WITHOUT ROWID;
