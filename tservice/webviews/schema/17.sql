-- Web tabs (protocol-webtabs).
CREATE TABLE webviews (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    url TEXT NOT NULL,
    icon TEXT,
    created_at INTEGER NOT NULL,
    last_opened_at INTEGER
) STRICT;
