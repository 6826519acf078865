-- OS users that panes run as (protocol-os-users): of an account by name, of a session as it was
-- made, JSON.
ALTER TABLE accounts ADD COLUMN os_user TEXT;
ALTER TABLE sessions ADD COLUMN os_user TEXT;
