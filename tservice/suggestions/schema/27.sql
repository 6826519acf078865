-- Since when prompts are collected, in Unix milliseconds (protocol-intent): those of a mode since it
-- was switched on, those of an intent, by its key, since it was replaced or deleted.
CREATE TABLE collected_since (
    subject TEXT PRIMARY KEY,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
