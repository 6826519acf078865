-- Whether something was submitted to a session's agent of which no end was told yet
-- (protocol-status).
ALTER TABLE sessions ADD COLUMN turn_open INTEGER NOT NULL DEFAULT 0;
