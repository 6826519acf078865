-- Tokens of accounts are worth nothing where there are none, and the other way round: the only user
-- may have the name that an account had.
ALTER TABLE api_tokens ADD COLUMN multiuser INTEGER NOT NULL DEFAULT 0;
UPDATE api_tokens SET multiuser = 1 WHERE owner IN (SELECT username FROM accounts);
