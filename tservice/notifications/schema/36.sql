-- Rules of an account's notices, as JSON with the URLs of its webhooks (protocol-notices).  The empty
-- name is that of single-user mode.
CREATE TABLE notification_rules (
    account TEXT PRIMARY KEY,
    rules TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Where a waiting message goes: empty for the webhook of the service.
ALTER TABLE webhook_outbox ADD COLUMN target TEXT NOT NULL DEFAULT '';

ALTER TABLE webhook_result RENAME TO webhook_result_before;

CREATE TABLE webhook_result (
    target TEXT PRIMARY KEY,
    result TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO webhook_result SELECT '', result FROM webhook_result_before;

DROP TABLE webhook_result_before;
