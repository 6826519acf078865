-- What folders bring that somebody trusted (protocol-trust): digests, by the owner of the session.
CREATE TABLE trusted_folders (
    owner TEXT NOT NULL,
    digest TEXT NOT NULL,
    working_dir TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (owner, digest)
) STRICT, WITHOUT ROWID;
