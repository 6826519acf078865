"""Automatic answer to the folder-trust dialog, one key at a time (protocol-trust).

The service writes no file of the agent to make it trust a folder, or to skip another first-run
question, because no setting requests it. A user who starts an agent in a folder through the service
trusts that folder. The user must answer every other dialog.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.agents.activity.input_gate import PromptReadiness
from tservice.agents.interfaces import AgentScreen
from tservice.core.kernel.clock import wait_seconds
from tservice.core.kernel.errors import ServiceError
from tservice.mux.interface import IPane, MuxError, PaneGone
from tservice.terminal.dialogs.trust import choose_next_key
from tservice.terminal.screen_rules import ScreenRules

KEYS = 6
"""Maximum number of keys for one dialog (protocol-trust)."""
EVERY = 0.75
"""Seconds between two captures of the screen; protocol-trust allows twice as much."""
ANSWER = 1.2
"""Seconds for the agent to draw the effect of a key, before the key counts as lost."""
STEP = 0.1
"""Seconds between two checks for new output while L{ANSWER} lasts."""


class TrustAnswerer:
    """Task that waits for the trust dialog until the agent is ready or the window is over."""

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        pane: IPane,
        rules: ScreenRules,
        readiness: PromptReadiness,
        look: Callable[[], Awaitable[AgentScreen]],
    ) -> None:
        self._clock = clock
        self._pane = pane
        self._rules = rules
        self._readiness = readiness
        self._look = look
        self._pressed = 0

    @property
    def is_active(self) -> bool:
        """True while the dialog is answered if it appears."""
        waits = not self._readiness.is_ready and self._readiness.may_show_trust_dialog
        return waits and self._pressed < KEYS

    async def answer_dialog(self) -> None:
        """Answer the dialog if it appears.

        Return when the agent is ready or has ended, or when the window is over.
        """
        while not self._readiness.is_ready and self._readiness.may_show_trust_dialog:
            look = await self._capture_or_none()
            key = None if look is None else choose_next_key(look.frame, self._rules)
            if key is None or self._pressed >= KEYS:
                await wait_seconds(self._clock, EVERY)
            elif not await self._press_key(key):
                return

    async def _capture_or_none(self) -> AgentScreen | None:
        try:
            return await self._look()
        except ServiceError:
            # The screen cannot be read just now, or the dialog may not be answered: press nothing.
            return None

    async def _press_key(self, key: str) -> bool:
        """Press one key and wait for its effect; return false if the process is gone.

        Without the wait, the next key would be chosen from the old screen.
        """
        before = self._pane.log.end
        self._pressed += 1
        try:
            await self._pane.send_key(key)
        except PaneGone:
            return False
        except MuxError as error:
            self._log.warn("the trust dialog was not answered: {error}", error=error)
        end = self._clock.seconds() + ANSWER
        while self._pane.log.end == before and self._clock.seconds() < end:
            await wait_seconds(self._clock, STEP)
        await wait_seconds(self._clock, STEP)
        return True
