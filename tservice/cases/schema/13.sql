-- What is known of cases beside their folders (protocol-cases).  Without a path it is a local one,
-- and its folder stands in the cases folder; the owner is empty where there are no accounts.
CREATE TABLE cases (
    owner TEXT NOT NULL,
    name TEXT NOT NULL COLLATE NOCASE,
    path TEXT,
    description TEXT,
    created_at INTEGER NOT NULL,
    repository TEXT,
    branch TEXT,
    PRIMARY KEY (owner, name)
) STRICT;

-- Folders to be removed for good, and when: cases in the trash, and what a clone has made so far.
CREATE TABLE case_trash (
    path TEXT PRIMARY KEY,
    os_user TEXT,
    os_uid INTEGER,
    due INTEGER NOT NULL
) STRICT;

-- An account's order of its cases; without accounts it is the setting caseOrder.
CREATE TABLE case_orders (
    owner TEXT PRIMARY KEY,
    names TEXT NOT NULL
) STRICT;
