"""Database table of Web Push subscriptions."""

from __future__ import annotations

from attrs import asdict

from tservice.core.disk.disk_errors import DiskFull
from tservice.push.model import MAX_PER_OWNER, Subscription
from tservice.store.database import Database

_SAVE = """
    INSERT INTO push_subscriptions (endpoint, owner, p256dh, auth, subject, created_at)
    VALUES (:endpoint, :owner, :p256dh, :auth, :subject, :created_at)
    ON CONFLICT (endpoint) DO UPDATE SET
        owner = excluded.owner, p256dh = excluded.p256dh, auth = excluded.auth,
        subject = excluded.subject, created_at = excluded.created_at
"""
_TRIM = """
    DELETE FROM push_subscriptions WHERE owner = :owner AND endpoint NOT IN (
        SELECT endpoint FROM push_subscriptions WHERE owner = :owner
        ORDER BY created_at DESC, rowid DESC LIMIT :most
    )
"""
_DELETE_ALL = "DELETE FROM push_subscriptions WHERE owner = ?"


class PushSubscriptionStore:
    """The table C{push_subscriptions}."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save_subscription(self, subscription: Subscription) -> None:
        """Save a subscription.

        If the browser was subscribed for another user before, the new user becomes its owner.  The
        owner's
        oldest subscriptions beyond L{MAX_PER_OWNER} are deleted.
        """
        with self._database.transaction():
            self._database.execute(_SAVE, asdict(subscription))
            self._database.execute(_TRIM, {"owner": subscription.owner, "most": MAX_PER_OWNER})

    def delete_subscription(self, endpoint: str, owner: str | None = None) -> bool:
        """Delete a subscription.

        @param owner: delete it only if it belongs to this user; C{None} means any user.
        @return: true if there was one.
        """
        sql = "DELETE FROM push_subscriptions WHERE endpoint = :endpoint"
        if owner is not None:
            sql += " AND owner = :owner"
        return self._database.execute(sql, {"endpoint": endpoint, "owner": owner}) > 0

    def list_owners(self) -> list[str]:
        """Return the names of all users that have a subscription."""
        rows = self._database.query_rows(
            "SELECT DISTINCT owner FROM push_subscriptions ORDER BY owner"
        )
        return [row["owner"] for row in rows]

    def delete_owner(self, owner: str) -> None:
        """Delete all subscriptions of one user.  On a full disk the deletion is deferred."""
        try:
            self._database.execute(_DELETE_ALL, (owner,))
        except DiskFull:
            self._database.execute_or_defer(("push subscriptions of", owner), _DELETE_ALL, (owner,))

    def list_subscriptions(self, owner: str | None = None) -> list[Subscription]:
        """Return subscriptions, oldest first.

        @param owner: only those of this user; C{None} means all users.
        """
        where = "" if owner is None else "WHERE owner = :owner"
        rows = self._database.query_rows(
            f"SELECT * FROM push_subscriptions {where} ORDER BY created_at, rowid",  # noqa: S608
            {"owner": owner},
        )
        return [Subscription(**dict(row)) for row in rows]
