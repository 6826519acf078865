"""Notices that wait, at most one of a session."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from tservice.notifications.model import Notice, NoticeKind


@frozen(kw_only=True)
class HeldNotice:
    """Notice that waits.

    @ivar until: time of the next decision, in Unix milliseconds; C{None} if an event tells.
    """

    notice: Notice
    until: int | None


class HeldNotices:
    """Waiting notices by account and session.

    A session has one at most, so that the number of sessions bounds them.  One that needs a person
    is not replaced by one that does not.
    """

    def __init__(self) -> None:
        self._held: dict[str, dict[str, HeldNotice]] = {}

    def add(self, held: HeldNotice) -> None:
        """Keep a notice."""
        waiting = self._held.setdefault(held.notice.account, {})
        before = waiting.get(held.notice.session_id)
        if before and before.notice.needs_person and not held.notice.needs_person:
            return
        waiting[held.notice.session_id] = held

    def take_all(self, account: str) -> list[Notice]:
        """Remove and return the notices of an account, oldest first."""
        found = self._held.pop(account, {})
        return sorted((held.notice for held in found.values()), key=lambda notice: notice.at)

    def find_due_time(self, account: str) -> int | None:
        """Return the time of the next decision, in Unix milliseconds; C{None} if none is set."""
        waiting = self._held.get(account, {}).values()
        return min((held.until for held in waiting if held.until is not None), default=None)

    def find_accounts(self, session_id: str) -> list[str]:
        """Return the accounts with a notice about a session."""
        return [account for account, waiting in self._held.items() if session_id in waiting]

    def drop(self, session_id: str, kinds: frozenset[NoticeKind] | None = None) -> None:
        """Remove the notices about a session.

        @param kinds: only notices of these kinds; C{None} means all.
        """
        for account in self.find_accounts(session_id):
            waiting = self._held[account]
            if kinds is None or waiting[session_id].notice.kind in kinds:
                del waiting[session_id]
            if not waiting:
                del self._held[account]

    def drop_account(self, account: str) -> None:
        """Remove the notices of an account."""
        self._held.pop(account, None)

    def __iter__(self) -> Iterator[HeldNotice]:
        return iter([held for waiting in self._held.values() for held in waiting.values()])
