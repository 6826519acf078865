-- Messages on their way to the webhook (protocol-webhooks): a row stays until it was accepted or
-- given up.
CREATE TABLE webhook_outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    message TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    due_at INTEGER NOT NULL
) STRICT;

CREATE INDEX webhook_outbox_by_due ON webhook_outbox (due_at, id);

-- What became of the last attempt: one row, JSON.
CREATE TABLE webhook_result (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    result TEXT NOT NULL
) STRICT;
