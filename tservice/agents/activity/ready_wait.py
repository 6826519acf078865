"""Helper that waits until an agent is ready for a prompt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from twisted.internet.interfaces import IReactorTime

from tservice.agents.activity.input_gate import SETTLE, PromptReadiness
from tservice.agents.interfaces import AgentScreen
from tservice.core.kernel.clock import wait_seconds
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_failure_error

EVERY = 0.5
"""Seconds between two captures of the screen."""


async def wait_until_ready(
    clock: IReactorTime,
    look: Callable[[], Awaitable[AgentScreen]],
    shows: Callable[[AgentScreen], bool],
    patience: float,
) -> None:
    """Return L{SETTLE} seconds after a capture shows that the agent is ready.

    The time limit counts captures instead of seconds, so that a change of the clock has no effect.

    @param look: captures the screen.
    @param shows: returns true if the captured screen shows a ready agent.
    @param patience: seconds to wait.
    @raise ServiceError: any error of C{look}, except that the screen cannot be read just now; 422:
        C{patience} seconds are over.
    """
    why = "its screen could not be read"
    for _ in range(max(1, round(patience / EVERY))):
        try:
            seen = await look()
        except ServiceError as error:
            if error.code is not ErrorCode.OPERATION_FAILED:
                raise
        else:
            if shows(seen):
                await wait_seconds(clock, SETTLE)
                return
            why = _describe_unready(seen)
        await wait_seconds(clock, EVERY)
    raise make_failure_error(f"the agent was not ready for a prompt within {patience:g} s: {why}")


def is_screen_ready(look: AgentScreen, readiness: PromptReadiness | None) -> bool:
    """Return true if a prompt could be typed into the captured screen."""
    if readiness is None or look.reading.dialog is not None:
        return False
    return look.reading.composer_ready if readiness.has_known_composer else readiness.is_ready


def _describe_unready(seen: AgentScreen) -> str:
    dialog = seen.reading.dialog
    if dialog is not None:
        return f"it shows a dialog ({dialog.kind})"
    return "its composer was not on the screen"
