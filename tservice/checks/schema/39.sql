-- Files with checks that a person approved (protocol-checks-file): the text at the time of the
-- approval, its hash, and the checks as JSON.  The owner is empty where there are no accounts.
CREATE TABLE check_file_approvals (
    owner TEXT NOT NULL,
    location TEXT NOT NULL,
    path TEXT NOT NULL,
    hash TEXT NOT NULL,
    text TEXT NOT NULL,
    checks TEXT NOT NULL,
    on_failure TEXT NOT NULL,
    max_attempts INTEGER NOT NULL,
    approved_at INTEGER NOT NULL,
    approved_by TEXT NOT NULL,
    PRIMARY KEY (owner, location, path)
) STRICT;
