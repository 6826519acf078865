-- What somebody wants in a workspace (protocol-intent).  prompts is a JSON list, oldest first.
CREATE TABLE intents (
    key TEXT PRIMARY KEY,
    owner TEXT,
    working_dir TEXT NOT NULL,
    goals TEXT NOT NULL,
    prompts TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
