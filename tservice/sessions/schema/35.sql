-- Snooze of a session's notices, as JSON; null: not snoozed (protocol-notices).
ALTER TABLE sessions ADD COLUMN snooze TEXT;
