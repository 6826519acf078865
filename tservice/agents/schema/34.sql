-- Rules that answer agents' questions (protocol-approval-rules), by account; '' without accounts.
CREATE TABLE approval_rules (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    rule TEXT NOT NULL,
    hits INTEGER NOT NULL DEFAULT 0,
    last_hit_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX approval_rules_by_owner ON approval_rules (owner);

-- The last questions of each account's agents, and their answers.
CREATE TABLE approval_history (
    number INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    at INTEGER NOT NULL,
    item_id TEXT NOT NULL,
    request TEXT NOT NULL,
    answer TEXT NOT NULL,
    rule_id TEXT,
    rule_name TEXT
) STRICT;
CREATE INDEX approval_history_by_owner ON approval_history (owner, number);
