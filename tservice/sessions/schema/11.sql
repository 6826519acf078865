-- A keystroke writes a page of this table instead of three.
CREATE TABLE typing (
    session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    data BLOB NOT NULL,
    client_id TEXT,
    seq INTEGER,
    previous_seq INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO typing SELECT * FROM input_journal;
DROP TABLE input_journal;
ALTER TABLE typing RENAME TO input_journal;
