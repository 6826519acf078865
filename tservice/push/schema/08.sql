-- Browsers that want word of sessions while no page is open.  The endpoint is a capability.
CREATE TABLE push_subscriptions (
    endpoint TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    p256dh TEXT NOT NULL,
    auth TEXT NOT NULL,
    subject TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX push_subscriptions_by_owner ON push_subscriptions (owner, created_at);
