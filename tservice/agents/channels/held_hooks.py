"""Hooks of agents that wait for a person's decision on a permission dialog.

The agent shows its dialog while such a hook runs, and takes the first answer: the output of the
hook, or a key. A hook without output leaves the dialog to the keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import field, frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.event_payloads import ApprovalResolvedPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.timers import NamedTimers, cancel_call

HOLD_SECONDS = 3600.0
"""Maximum seconds for which a hook is held; then only keys answer its dialog."""
GRACE = 5.0
"""Seconds until a hook is released if no dialog of its session is in the inbox.

The screen was searched for the dialog by then, or the dialog was closed.
"""
MOST_IN_SESSION = 16
"""Maximum number of held hooks of one session; the oldest is released first."""
MOST = 48
"""Maximum number of held hooks of all sessions; the oldest is released first.

Each uses a connection, of which containers have few.
"""

_TURN_ENDS = {
    EventName.HOOK_STOP,
    EventName.HOOK_PROMPT_SUBMITTED,
    EventName.HOOK_SESSION_START,
    EventName.HOOK_SESSION_END,
    EventName.SESSION_EXIT,
    EventName.SESSION_INTERACTIVE,
    EventName.SESSION_DELETED,
}
_ITEM = {EventName.APPROVAL_PENDING, EventName.APPROVAL_UPDATED}


@frozen(kw_only=True, eq=False)
class HeldHook:
    """Hook that waits for a decision.

    @ivar digest: digest of all inputs of the tool that the hook is about.
    @ivar tool_input: the inputs of that tool.
    @ivar began: seconds of the clock at which the hook arrived.
    """

    session_id: str
    digest: str
    tool_input: Mapping[str, Any]
    began: float
    released: Deferred[bytes] = field(factory=Deferred)


class HeldHooks:
    """Registry of held hooks, oldest first."""

    def __init__(self, clock: IReactorTime, hub: EventHub) -> None:
        self._clock = clock
        self._held: dict[HeldHook, None] = {}
        self._timers = NamedTimers(clock)
        self._shown: dict[str, str | None] = {}
        self._unsubscribe: Callable[[], None] = hub.subscribe(self._handle_event)

    async def hold_hook(self, session_id: str, digest: str, tool_input: Mapping[str, Any]) -> bytes:
        """Wait for a decision, and return the output for the agent; empty without a decision.

        The hold also ends when the caller cancels, because the hook's process is gone.
        """
        hook = HeldHook(
            session_id=session_id,
            digest=digest,
            tool_input=tool_input,
            began=self._clock.seconds(),
        )
        self._make_room(session_id)
        self._held[hook] = None
        limit = self._clock.callLater(HOLD_SECONDS, self.release_hook, hook)
        self._arm_grace(session_id)
        try:
            return await hook.released
        finally:
            self._held.pop(hook, None)
            cancel_call(limit)

    def find_hook(self, session_id: str, digest: str | None) -> HeldHook | None:
        """Return the oldest held hook about those inputs; C{None} if there is none."""
        return next((hook for hook in self._list_hooks(session_id) if hook.digest == digest), None)

    def answer_hook(self, hook: HeldHook, output: bytes) -> bool:
        """Let the agent have a decision; return false if the hook no longer waits."""
        if hook not in self._held:
            return False
        self._shown.pop(hook.session_id, None)
        self._release(hook, output)
        return True

    def release_hook(self, hook: HeldHook) -> None:
        """End the hook without a decision; only keys answer its dialog from now on."""
        self._release(hook, b"")

    def close(self) -> None:
        """Release all hooks, and unsubscribe from events."""
        self._unsubscribe()
        self._timers.cancel_all()
        for hook in tuple(self._held):
            self.release_hook(hook)

    # -- internal

    def _list_hooks(self, session_id: str) -> list[HeldHook]:
        return [hook for hook in self._held if hook.session_id == session_id]

    def _release(self, hook: HeldHook, output: bytes) -> None:
        if hook in self._held:
            del self._held[hook]
            hook.released.callback(output)

    def _make_room(self, session_id: str) -> None:
        mine = self._list_hooks(session_id)
        if len(mine) >= MOST_IN_SESSION:
            self.release_hook(mine[0])
        elif len(self._held) >= MOST:
            self.release_hook(next(iter(self._held)))

    def _release_session(self, session_id: str) -> None:
        self._timers.cancel_timer(session_id)
        for hook in self._list_hooks(session_id):
            self.release_hook(hook)

    def _arm_grace(self, session_id: str) -> None:
        """Release the session's hooks later, unless a dialog is in the inbox by then."""
        if session_id not in self._shown and self._list_hooks(session_id):
            self._timers.schedule_call(session_id, GRACE, self._release_session, session_id)

    def _handle_event(self, event: Event) -> None:
        session_id = event.session_id
        if session_id is None:
            return
        if event.name in _TURN_ENDS:
            self._release_session(session_id)
            if event.name is EventName.SESSION_DELETED:
                self._shown.pop(session_id, None)
        elif event.name in _ITEM:
            self._note_item(session_id, event.payload)
        elif isinstance(event.payload, ApprovalResolvedPayload):
            # Its dialog is over. Those of parallel tools follow one after the other.
            over = self.find_hook(session_id, self._shown.pop(session_id, None))
            if over is not None:
                self.release_hook(over)
            self._arm_grace(session_id)

    def _note_item(self, session_id: str, payload: object) -> None:
        if getattr(payload, "kind", None) == "idle":
            return
        self._timers.cancel_timer(session_id)
        self._shown[session_id] = getattr(payload, "tool_digest", None)
