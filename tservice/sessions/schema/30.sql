-- Whether some of a session's tokens have no known price, so that its total cost lacks them.
ALTER TABLE sessions ADD COLUMN cost_unknown INTEGER;
