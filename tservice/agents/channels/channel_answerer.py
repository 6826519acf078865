"""Answers that reach an agent through a channel instead of by keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from twisted.internet.interfaces import IReactorTime

from tservice.agents.approvals.answer_delivery import LOOKS, AnswerChannel, AnswerOutcome
from tservice.agents.approvals.answer_screen import AnswerScreen, GuardedScreen
from tservice.agents.approvals.answer_steps import DialogAnswer
from tservice.agents.approvals.dialog_comparison import may_answer
from tservice.agents.approvals.model import ApprovalItem, ItemKind
from tservice.core.kernel.clock import wait_seconds
from tservice.core.kernel.errors import make_conflict_error, make_failure_error
from tservice.mux.interface import IPane, MuxError

EFFECT_LOOKS = (*LOOKS, 2.0, 4.0)
"""Seconds before each capture that checks for the effect of a decision.

They are more than for a key: the agent has the decision, and on a busy machine it takes its time to
draw what follows.
"""

_Q = TypeVar("_Q", bound="WaitingQuestion")
_D = TypeVar("_D")


class WaitingQuestion(Protocol):
    """Question that an agent asked through a channel."""

    @property
    def began(self) -> float:
        """Seconds of the clock at which it arrived."""


class QuestionSource(Protocol[_Q, _D]):
    """Questions of one kind of channel, and the decisions that it takes.

    @ivar takes_reasons: true if a denial can have a reason for the agent.
    """

    @property
    def takes_reasons(self) -> bool: ...

    def find_question(self, item: ApprovalItem) -> _Q | None:
        """Return the question of an item; C{None} if none waits."""

    def make_decision(self, item: ApprovalItem, answer: DialogAnswer, question: _Q) -> _D | None:
        """Return the decision for an answer; C{None} if the answer needs keys."""

    def release_question(self, question: _Q) -> None:
        """Leave the question to the keys."""

    def give_decision(self, question: _Q, decision: _D) -> bool:
        """Give a decision, and return false if the question no longer waits."""


class ChannelAnswerer(AnswerChannel, Generic[_Q, _D]):
    """Gives answers through one kind of channel (L{AnswerChannel})."""

    def __init__(self, clock: IReactorTime, source: QuestionSource[_Q, _D]) -> None:
        self._clock = clock
        self._source = source

    def takes_reason(self, item: ApprovalItem) -> bool:
        """See L{AnswerChannel}."""
        asks = item.kind is ItemKind.PERMISSION and self._source.takes_reasons
        return asks and self._source.find_question(item) is not None

    async def give_answer(
        self,
        item: ApprovalItem,
        answer: DialogAnswer,
        pane: IPane,
        screen: AnswerScreen,
        check_permission: Callable[[], object],
    ) -> AnswerOutcome | None:
        """See L{AnswerChannel}."""
        question = self._source.find_question(item)
        if question is None:
            return None
        decision = self._source.make_decision(item, answer, question)
        if decision is None or not await _shows_dialog(item, screen):
            return None
        typed = pane.typed_at
        if typed is not None and typed >= question.began:
            self._source.release_question(question)
            return None
        check_permission()
        if not self._source.give_decision(question, decision):
            return None
        outcome = await self._wait_until_closed(item, screen)
        if pane.typed_at != typed:
            raise make_conflict_error("a key was pressed in the terminal at the same time")
        return outcome

    async def _wait_until_closed(self, item: ApprovalItem, screen: AnswerScreen) -> AnswerOutcome:
        for pause in EFFECT_LOOKS:
            await wait_seconds(self._clock, pause)
            try:
                seen = await screen.capture_now()
            except MuxError:
                continue
            if not _is_open(item, seen) and (seen.dialog is not None or seen.is_recognized):
                return AnswerOutcome(closed=True, dialog=seen.dialog)
        raise make_failure_error("the dialog did not react to the answer")


class FirstAnswerer(AnswerChannel):
    """Gives answers through the first of several channels that takes them."""

    def __init__(self, *channels: AnswerChannel) -> None:
        self._channels = channels

    def takes_reason(self, item: ApprovalItem) -> bool:
        """See L{AnswerChannel}."""
        return any(channel.takes_reason(item) for channel in self._channels)

    async def give_answer(
        self,
        item: ApprovalItem,
        answer: DialogAnswer,
        pane: IPane,
        screen: AnswerScreen,
        check_permission: Callable[[], object],
    ) -> AnswerOutcome | None:
        """See L{AnswerChannel}."""
        for channel in self._channels:
            outcome = await channel.give_answer(item, answer, pane, screen, check_permission)
            if outcome is not None:
                return outcome
        return None


async def _shows_dialog(item: ApprovalItem, screen: AnswerScreen) -> bool:
    try:
        return _is_open(item, await screen.capture_now())
    except MuxError:
        return False


def _is_open(item: ApprovalItem, seen: GuardedScreen) -> bool:
    return seen.dialog is not None and may_answer(item, seen.dialog)
