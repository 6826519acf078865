"""Answers that reach an agent through its held hook instead of by keys."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.interfaces import IReactorTime

from tservice.agents.approvals.answer_delivery import LOOKS, AnswerChannel, AnswerOutcome
from tservice.agents.approvals.answer_screen import AnswerScreen, GuardedScreen
from tservice.agents.approvals.answer_steps import DialogAnswer
from tservice.agents.approvals.dialog_comparison import may_answer
from tservice.agents.approvals.model import ApprovalItem
from tservice.agents.channels.claude_decisions import make_decision
from tservice.agents.channels.held_hooks import HeldHooks
from tservice.core.kernel.clock import wait_seconds
from tservice.core.kernel.errors import make_conflict_error, make_failure_error
from tservice.mux.interface import IPane, MuxError


class HookAnswerer(AnswerChannel):
    """Gives answers through held hooks (L{AnswerChannel})."""

    def __init__(self, clock: IReactorTime, held: HeldHooks) -> None:
        self._clock = clock
        self._held = held

    async def give_answer(
        self,
        item: ApprovalItem,
        answer: DialogAnswer,
        pane: IPane,
        screen: AnswerScreen,
        check_permission: Callable[[], object],
    ) -> AnswerOutcome | None:
        """See L{AnswerChannel}."""
        hook = self._held.find_hook(item.session_id, item.tool_digest)
        if hook is None:
            return None
        decision = make_decision(item, answer, hook.tool_input)
        if decision is None or not await _shows_dialog(item, screen):
            return None
        typed = pane.typed_at
        if typed is not None and typed >= hook.began:
            self._held.release_hook(hook)
            return None
        check_permission()
        if not self._held.answer_hook(hook, decision):
            return None
        outcome = await self._wait_until_closed(item, screen)
        if pane.typed_at != typed:
            raise make_conflict_error("a key was pressed in the terminal at the same time")
        return outcome

    async def _wait_until_closed(self, item: ApprovalItem, screen: AnswerScreen) -> AnswerOutcome:
        for pause in LOOKS:
            await wait_seconds(self._clock, pause)
            try:
                seen = await screen.capture_now()
            except MuxError:
                continue
            if not _is_open(item, seen) and (seen.dialog is not None or seen.is_recognized):
                return AnswerOutcome(closed=True, dialog=seen.dialog)
        raise make_failure_error("the dialog did not react to the answer")


async def _shows_dialog(item: ApprovalItem, screen: AnswerScreen) -> bool:
    try:
        return _is_open(item, await screen.capture_now())
    except MuxError:
        return False


def _is_open(item: ApprovalItem, seen: GuardedScreen) -> bool:
    return seen.dialog is not None and may_answer(item, seen.dialog)
