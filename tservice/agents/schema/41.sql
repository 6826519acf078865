-- How many of the answers in session_absences were given by approval rules (protocol-away).
ALTER TABLE session_absences ADD COLUMN by_rule INTEGER NOT NULL DEFAULT 0;
