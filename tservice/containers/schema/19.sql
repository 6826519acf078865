-- Who this service is to the engines: its containers carry it as a label.
CREATE TABLE container_service (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    id TEXT NOT NULL
) STRICT;

-- Engines, and how containers are made by them (protocol-containers).
CREATE TABLE container_hosts (
    id TEXT PRIMARY KEY,
    label TEXT NOT NULL,
    settings TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The containers of cases; own holds what a case sets in place of its host.
CREATE TABLE case_containers (
    container TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL COLLATE NOCASE,
    host_id TEXT NOT NULL REFERENCES container_hosts (id),
    path TEXT NOT NULL,
    own TEXT NOT NULL,
    UNIQUE (owner, name)
) STRICT, WITHOUT ROWID;
