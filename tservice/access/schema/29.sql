-- Accounts have ids, which never come twice: folders, and whatever else must not reach the next
-- account of a name, go by them (protocol-users).
CREATE TABLE accounts_with_id (
    username TEXT PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL CHECK (role IN ('admin', 'user')),
    password_hash TEXT NOT NULL,
    can_bypass_permissions INTEGER NOT NULL,
    enabled INTEGER NOT NULL,
    must_change_password INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    os_user TEXT
) STRICT;
INSERT INTO accounts_with_id
    SELECT username, lower(hex(randomblob(8))), role, password_hash, can_bypass_permissions, enabled,
        must_change_password, created_at, os_user
    FROM accounts;
DROP TABLE accounts;
ALTER TABLE accounts_with_id RENAME TO accounts;

-- Accounts that were removed, the last ones of them: whose their sessions and folders were.
CREATE TABLE former_accounts (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    username TEXT NOT NULL
) STRICT;
INSERT INTO former_accounts (id, username)
    SELECT lower(hex(randomblob(8))), owner
    FROM (SELECT owner FROM sessions UNION SELECT owner FROM cases
        UNION SELECT owner FROM case_containers)
    WHERE owner <> '' AND owner NOT IN (SELECT username FROM accounts);

-- The cases of a removed account and their containers belong to nobody: no name begins with a hyphen.
CREATE TRIGGER account_removed AFTER DELETE ON accounts BEGIN
    INSERT INTO former_accounts (id, username) VALUES (old.id, old.username);
    DELETE FROM former_accounts WHERE position <= (SELECT max(position) FROM former_accounts) - 1000;
    UPDATE cases SET owner = '-' || old.id WHERE owner = old.username;
    UPDATE case_containers SET owner = '-' || old.id WHERE owner = old.username;
END;
UPDATE cases SET owner = '-' || (SELECT id FROM former_accounts WHERE username = owner)
    WHERE owner IN (SELECT username FROM former_accounts);
UPDATE case_containers SET owner = '-' || (SELECT id FROM former_accounts WHERE username = owner)
    WHERE owner IN (SELECT username FROM former_accounts);

-- Folders that were called as their account is; each is moved to its id (tap/accountfolders.py).
CREATE TABLE account_moves (
    id TEXT PRIMARY KEY,
    username TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO account_moves SELECT id, username FROM accounts
    UNION ALL SELECT id, username FROM former_accounts;
