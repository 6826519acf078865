-- Input for a session whose host is out of reach, until it was typed (protocol-wake).
CREATE TABLE input_buffer (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    text BLOB NOT NULL,
    use_mux INTEGER,
    client_id TEXT,
    seq INTEGER,
    PRIMARY KEY (session_id, position)
) STRICT, WITHOUT ROWID;
