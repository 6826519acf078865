"""Approval inbox, which holds pending items and their resolutions (protocol-approvals)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve, frozen
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from tservice.agents.approvals.dialog_comparison import (
    get_tool_identity,
    is_item_dialog,
    is_item_view,
    merge_view,
)
from tservice.agents.approvals.model import (
    IDLE_FRAME,
    LIFETIME_MS,
    MEMORY_MS,
    ApprovalItem,
    ApprovalResolution,
    ItemKind,
    choose_item_kind,
    clip_rows,
    update_from_dialog,
    update_from_folder,
    update_from_hook,
)
from tservice.agents.approvals.responses import ApprovalItemResponse, make_item_response
from tservice.agents.approvals.store import ApprovalStore
from tservice.agents.foldertrust.counted import FolderFinding
from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import make_conflict_error, make_not_found_error
from tservice.core.kernel.event_payloads import ApprovalResolvedPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.timers import cancel_call
from tservice.core.values.payload import Payload
from tservice.terminal.dialogs.dialogs import AgentDialog

REMEMBERED = 1000
"""Maximum number of resolutions that are kept; beyond that the oldest are dropped early."""

_SAID = {
    ApprovalResolution.IN_TERMINAL: "the dialog was answered in the terminal",
    ApprovalResolution.SUPERSEDED: "a newer dialog replaced it",
    ApprovalResolution.SESSION_ENDED: "the session ended",
    ApprovalResolution.DISMISSED: "it was dismissed",
    ApprovalResolution.EXPIRED: "it expired",
}


@frozen(kw_only=True)
class ItemSession:
    """Identity of the session that an item belongs to."""

    id: str
    name: str
    owner: str | None


@frozen(kw_only=True)
class _ResolvedItem:
    item: ApprovalItem
    resolution: ApprovalResolution
    at: int


class ApprovalInbox:
    """Pending items, at most one for each session.

    A change is saved on disk before it is announced.
    """

    def __init__(
        self,
        clock: IReactorTime,
        store: ApprovalStore,
        hub: EventHub,
        takes_reason: Callable[[ApprovalItem], bool],
    ) -> None:
        """@param takes_reason: returns true if a denial of an item can have a reason."""
        self._takes_reason = takes_reason
        self._clock = clock
        self._store = store
        self._hub = hub
        self._items: dict[str, ApprovalItem] = {}
        self._past: dict[str, _ResolvedItem] = {}
        self._timer: IDelayedCall | None = None

    def load_items(self) -> None:
        """Load the stored items; call this once."""
        self._items = {item.session_id: item for item in self._store.load_items()}
        self._expire_items()

    def close(self) -> None:
        """Stop the expiry timer; items stay on disk."""
        cancel_call(self._timer)
        self._timer = None

    # -- queries

    def get_item(self, session_id: str) -> ApprovalItem | None:
        """Return the pending item of a session; C{None} if it has none."""
        return self._items.get(session_id)

    def list_visible(self, caller: Identity) -> list[ApprovalItem]:
        """Return the items that the caller may see, oldest first."""
        found = [
            item for item in self._items.values() if caller.can_access(item.owner, item.session_id)
        ]
        return sorted(found, key=lambda item: (item.created_at, item.id))

    def get_pending(self, item_id: str, caller: Identity) -> ApprovalItem:
        """Return a pending item.

        @raise ServiceError: 404: the item is not pending, or not visible to C{caller}; 409: the
            item ended within the last minute, other than by an answer.
        """
        item = self._items.get(item_id.rpartition(":")[0])
        if (
            item is not None
            and item.id == item_id
            and caller.can_access(item.owner, item.session_id)
        ):
            return item
        past = self._past.get(item_id)
        if past is not None and caller.can_access(past.item.owner, past.item.session_id):
            fresh = get_unix_ms(self._clock) - past.at < MEMORY_MS
            if fresh and past.resolution is not ApprovalResolution.ANSWERED:
                raise make_conflict_error(f"{past.resolution}: {_SAID[past.resolution]}")
        raise make_not_found_error(f"Approval {item_id}")

    def describe_item(self, item: ApprovalItem) -> ApprovalItemResponse:
        """Return the item as a response."""
        return make_item_response(item, takes_reason=self._takes_reason(item))

    # -- changes from screens and hooks

    def put_dialog_item(
        self,
        about: ItemSession,
        dialog: AgentDialog,
        data: Mapping[str, Any],
        *,
        at_rest: bool = False,
    ) -> None:
        """Add or update the item for a dialog that waits for an answer.

        @param about: the session that shows the dialog.
        @param data: the data of the dialog's hook; empty if there was none.
        @param at_rest: see L{merge_view}.
        """
        before = self._items.get(about.id)
        if before is not None and self._is_item_for_dialog(before, dialog, data):
            shown = update_from_hook(merge_view(before, dialog, at_rest=at_rest), data)
            if before.tool_name is None and shown.tool_name is not None:
                shown = evolve(shown, kind=choose_item_kind(dialog, shown.tool_name))
            self._update_item(before, shown)
            return
        self.replace_item(about, dialog, data)

    def replace_item(
        self, about: ItemSession, dialog: AgentDialog, data: Mapping[str, Any]
    ) -> None:
        """Replace the session's item by a new one for C{dialog}."""
        fresh = self._make_item(
            about, choose_item_kind(dialog, data.get("tool_name")), dialog.frame_hash
        )
        # The tool determines the kind, so it is applied first.
        self._replace_and_publish_item(update_from_dialog(update_from_hook(fresh, data), dialog))

    def put_idle_item(self, about: ItemSession, rows: list[str], data: Mapping[str, Any]) -> None:
        """Add or update the idle item of an agent that waits for a prompt.

        @param rows: the rows of the screen, from which the item's context is taken.
        """
        before = self._items.get(about.id)
        item = before if before is not None and before.kind is ItemKind.IDLE else None
        fresh = item or self._make_item(about, ItemKind.IDLE, IDLE_FRAME)
        shown = update_from_hook(evolve(fresh, context=clip_rows(rows)), data)
        if item is None:
            self._replace_and_publish_item(shown)
        else:
            self._update_item(item, shown)

    def put_folder_item(self, about: ItemSession, working_dir: str, found: FolderFinding) -> None:
        """Add an item that asks if the folder is trusted; the session waits for the answer."""
        fresh = self._make_item(about, ItemKind.PERMISSION, found.digest[:32])
        self._replace_and_publish_item(update_from_folder(fresh, working_dir, found))

    def update_item_from_dialog(self, item: ApprovalItem, dialog: AgentDialog) -> None:
        """Update the item to the present appearance of its dialog."""
        if self._items.get(item.session_id) is item:
            self._update_item(item, update_from_dialog(item, dialog))

    def acknowledge_idle(self, session_id: str) -> ApprovalItem | None:
        """Mark the session's idle item as viewed and return it; C{None} if there is none."""
        item = self._items.get(session_id)
        if item is None or item.kind is not ItemKind.IDLE:
            return None
        if item.acknowledged_at is None:
            self._update_item(item, evolve(item, acknowledged_at=get_unix_ms(self._clock)))
        return self._items[session_id]

    def resolve_item(
        self, item: ApprovalItem, resolution: ApprovalResolution, rule: str | None = None
    ) -> None:
        """End the item; do nothing if it has already ended.

        @param rule: name of the rule that answered it; C{None} if none did.
        """
        now = self._items.get(item.session_id)
        if now is None or now.id != item.id:
            return
        self._remove_item(now, resolution)
        self._store.clear_item(now.session_id)
        self._arm_timer()
        self._publish_resolved(now, resolution, rule)

    def check_saved(self, session_id: str) -> None:
        """Check that the last change of the session's item is on disk.

        @raise DiskFull: the change is not on disk yet.
        """
        self._store.check_saved(session_id)

    # -- internal

    def _is_item_for_dialog(
        self, before: ApprovalItem, dialog: AgentDialog, data: Mapping[str, Any]
    ) -> bool:
        if before.kind is ItemKind.IDLE:
            return False
        tool = get_tool_identity(data)
        if tool[0] is None:
            return is_item_dialog(before, dialog)
        # A tool that is named again asks again.
        known = before.tool_identity
        same = before.frame == dialog.frame_hash or is_item_view(before, dialog)
        return same and (before.tool_name is None or known == tool)

    def _make_item(self, about: ItemSession, kind: ItemKind, frame: str) -> ApprovalItem:
        return ApprovalItem(
            id=f"{about.id}:{self._store.next_number(about.id)}",
            session_id=about.id,
            session_name=about.name,
            owner=about.owner,
            kind=kind,
            created_at=get_unix_ms(self._clock),
            frame=frame,
        )

    def _replace_and_publish_item(self, item: ApprovalItem) -> None:
        before = self._items.get(item.session_id)
        self._store.save_item(item)
        if before is not None:
            self._remove_item(before, ApprovalResolution.SUPERSEDED)
            self._publish_resolved(before, ApprovalResolution.SUPERSEDED)
        self._items[item.session_id] = item
        self._arm_timer()
        self._publish_event(item, EventName.APPROVAL_PENDING, self.describe_item(item))

    def _update_item(self, before: ApprovalItem, item: ApprovalItem) -> None:
        if item != before:
            self._store.save_item(item)
            self._items[item.session_id] = item
            self._publish_event(item, EventName.APPROVAL_UPDATED, self.describe_item(item))

    def _remove_item(self, item: ApprovalItem, resolution: ApprovalResolution) -> None:
        del self._items[item.session_id]
        now = get_unix_ms(self._clock)
        self._past = {name: past for name, past in self._past.items() if now - past.at < MEMORY_MS}
        while len(self._past) >= REMEMBERED:
            del self._past[next(iter(self._past))]
        self._past[item.id] = _ResolvedItem(item=item, resolution=resolution, at=now)

    def _arm_timer(self) -> None:
        self.close()
        if self._items:
            first = min(item.expires_at for item in self._items.values())
            delay = max(0.0, (first - get_unix_ms(self._clock)) / 1000)
            # After the clock was set back, no item may wait longer than its lifetime.
            self._timer = self._clock.callLater(min(delay, LIFETIME_MS / 1000), self._expire_items)

    def _expire_items(self) -> None:
        now = get_unix_ms(self._clock)
        for item in [item for item in self._items.values() if item.expires_at <= now]:
            self.resolve_item(item, ApprovalResolution.EXPIRED)
        self._arm_timer()

    def _publish_resolved(
        self, item: ApprovalItem, resolution: ApprovalResolution, rule: str | None = None
    ) -> None:
        told = ApprovalResolvedPayload(
            id=item.id, session_id=item.session_id, kind=item.kind, resolution=resolution, rule=rule
        )
        self._publish_event(item, EventName.APPROVAL_RESOLVED, told)

    def _publish_event(self, item: ApprovalItem, name: EventName, payload: Payload) -> None:
        self._hub.publish(
            Event(
                name=name,
                payload=payload,
                session_id=item.session_id,
                owner=item.owner,
            )
        )
