-- Restore after a reboot (protocol-restore).  The boot that the service saw last; stopped_at is when
-- it was last stopped in good order, and null while it runs.
CREATE TABLE restore_host (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    boot_id TEXT,
    stopped_at INTEGER
) STRICT;

-- What can be brought back, until when.
CREATE TABLE restore_offers (
    session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Sessions whose process was lost while the service ran, and when: a machine that goes down may end
-- them before it ends the service.
CREATE TABLE restore_losses (
    session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
