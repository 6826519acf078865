"""Service that changes a running agent's model, effort or permission mode (protocol-controls)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from functools import partial

from twisted.internet.interfaces import IReactorTime

from tservice.agents.activity.submission_end import has_draft
from tservice.agents.approvals.answer_delivery import (
    DialogAnswerer,
    DialogChangedError,
    KeyIgnoredError,
)
from tservice.agents.approvals.answer_screen import AnswerScreen
from tservice.agents.approvals.answer_steps import AnswerAction, DialogAnswer
from tservice.agents.controls.reading import (
    choose_cycle_key,
    find_confirming_option,
    read_command_result,
    read_cycle_value,
)
from tservice.agents.interfaces import AgentScreen, IAgents
from tservice.clis.interfaces import (
    AgentControl,
    CliEntry,
    CommandControl,
    CycleControl,
    ICliRegistry,
)
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import wait_seconds
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_conflict_error,
    make_failure_error,
    make_field_error,
)
from tservice.sessions.interfaces import (
    ISessions,
    ModelSource,
    Session,
    SessionStatus,
)
from tservice.terminal.screen_rules import ScreenRules

LOOKS = (0.1, 0.15, 0.25, 0.5, 1.0, 2.0, 3.0)
"""Seconds before each capture that checks for the effect of a key or a command."""
RESTS = (0.3, 0.7, 1.0)
"""Seconds before each further capture of an agent that ended its turn and still draws its spinner.
"""
DRAWN = 1.0
"""Seconds that an agent needs to draw typed text."""
ROUND = 8
"""Maximum number of times that the key of a setting is pressed to reach a value."""


class ControlSetting(StrEnum):
    """Setting of a running agent."""

    MODEL = "model"
    EFFORT = "effort"
    PERMISSION_MODE = "permissionMode"


class AgentControls:
    """Service that changes settings of running agents, one change at a time for each session."""

    def __init__(
        self, clock: IReactorTime, sessions: ISessions, agents: IAgents, clis: ICliRegistry
    ) -> None:
        self._clock = clock
        self._sessions = sessions
        self._agents = agents
        self._clis = clis
        self._busy: set[str] = set()

    async def change_setting(
        self,
        session_id: str,
        setting: ControlSetting,
        value: str,
        caller: Caller,
    ) -> str:
        """Change a setting, and return the value that the agent's screen then shows.

        @param caller: authorized again before a key that bypasses the queue
            of inputs.
        @raise ServiceError: 400: the mode has no such control, or no such value; 403: the value or
            the running program requires the grant to bypass permissions; 409: no process, a turn
            runs, a dialog waits, or another change is under way; 422: the agent did not accept it.
        """
        session = self._sessions.get(session_id, caller)
        entry, control = self._find_control(session, setting)
        _check_value(entry, control, setting, value, caller)
        self._check_permission(session_id, caller)
        with self._claim_session(session_id):
            await self._wait_for_typed_text(session_id)
            await self._capture_idle_screen(session_id)
            if isinstance(control.way, CycleControl):
                return await self._cycle_to_value(session_id, control.way, value, caller)
            found = await self._submit_setting_command(session_id, control.way, value, caller)
            if setting is ControlSetting.MODEL:
                self._sessions.report_model(session_id, ModelSource.SCREEN, found)
            return found

    # -- internal

    def _check_permission(self, session_id: str, caller: Caller) -> None:
        caller.reauthorize()
        self._sessions.check_sender(session_id, caller)

    def _find_control(
        self, session: Session, setting: ControlSetting
    ) -> tuple[CliEntry, AgentControl]:
        entry = self._clis.get_entry(session.mode)
        control = None if entry is None else _get_controls(entry)[setting]
        if entry is None or control is None:
            raise make_field_error(
                setting, f"cannot be set in a running session of mode {session.mode}"
            )
        return entry, control

    @contextmanager
    def _claim_session(self, session_id: str) -> Iterator[None]:
        if session_id in self._busy:
            raise make_conflict_error("another setting is being changed")
        self._busy.add(session_id)
        try:
            yield
        finally:
            self._busy.discard(session_id)

    async def _wait_for_typed_text(self, session_id: str) -> None:
        """Wait until recently typed text is visible, because it may be a draft."""
        pane = self._sessions.get_pane(session_id)
        typed = None if pane is None else pane.typed_at
        left = 0.0 if typed is None else typed + DRAWN - self._clock.seconds()
        if left > 0:
            await wait_seconds(self._clock, left)

    async def _capture_idle_screen(self, session_id: str) -> AgentScreen:
        """Capture the screen of an idle agent.

        @raise ServiceError: 409: the agent is not idle, or its composer contains a draft.
        """
        look = await self._agents.capture_screen(session_id)
        session = self._sessions.get(session_id)
        for pause in RESTS if session.status is SessionStatus.IDLE else ():
            if not look.reading.working:
                break
            await wait_seconds(self._clock, pause)
            look = await self._agents.capture_screen(session_id)
        if look.reading.dialog is not None:
            raise make_conflict_error(
                f"the agent shows a dialog, answer it first ({look.reading.evidence})"
            )
        if session.status is SessionStatus.BUSY or look.reading.working:
            raise make_conflict_error("a turn is running")
        if not look.reading.composer_ready:
            raise make_conflict_error("the agent's composer is not on the screen")
        if has_draft(look.frame, self._agents.get_screen_rules(session.mode)):
            raise make_conflict_error("the composer contains a draft")
        return look

    async def _cycle_to_value(
        self, session_id: str, cycle: CycleControl, value: str, caller: Identity
    ) -> str:
        """Press the setting's key until the screen shows the value, and return that value."""
        look = await self._capture_idle_screen(session_id)
        passed: list[str | None] = []
        for _ in range(ROUND):
            now = read_cycle_value(cycle, look.frame)
            if now == value:
                return value
            if now in passed:
                break
            passed.append(now)
            await self._sessions.send_key(session_id, choose_cycle_key(cycle, now, value), caller)
            if not await self._wait_until_screen_matches(
                session_id, partial(_shows_other_value, cycle, now)
            ):
                raise make_failure_error(f"the agent did not change from {now or 'what it shows'}")
            look = await self._capture_idle_screen(session_id)
        raise make_failure_error(f"the agent offers only {', '.join(filter(None, passed))} here")

    async def _submit_setting_command(
        self,
        session_id: str,
        command: CommandControl,
        value: str,
        caller: Caller,
    ) -> str:
        words = command.format_command(value)
        await self._sessions.send_prompt(session_id, words, caller)
        for pause in LOOKS:
            await wait_seconds(self._clock, pause)
            look = await self._agents.capture_screen(session_id)
            said = read_command_result(command, words, look.frame)
            if said is not None and (command.echoes or said == value):
                return said
            option = find_confirming_option(command, look.reading.dialog)
            if option is not None:
                await self._pick_confirming_option(session_id, look, option, caller)
        # It may have opened a list of values instead.
        await self._sessions.send_key(session_id, "Escape", caller)
        # The search text of that list is in the place of a draft until the list is closed.
        rules = self._agents.get_screen_rules(self._sessions.get(session_id).mode)
        await self._wait_until_screen_matches(session_id, partial(_is_agent_idle, rules))
        raise make_failure_error(f"the agent did not take {value}; look at the terminal")

    async def _pick_confirming_option(
        self, session_id: str, look: AgentScreen, option: int, caller: Caller
    ) -> None:
        """Pick C{option} of the captured dialog, if the dialog is still on the screen.

        @param caller: authorized again before the key.
        """
        session, pane = self._sessions.get(session_id), self._sessions.get_pane(session_id)
        dialog = look.reading.dialog
        if pane is None or dialog is None:
            return
        screen = AnswerScreen(self._clock, pane, self._agents.get_screen_rules(session.mode))
        answer = DialogAnswer(action=AnswerAction.OPTION, options=(option,))
        try:
            check = partial(self._check_permission, session_id, caller)
            await DialogAnswerer(self._clock, screen, check).give_answer(answer, dialog.frame_hash)
        except (DialogChangedError, KeyIgnoredError) as error:
            raise make_failure_error(
                f"the agent's confirmation dialog was not answered: {error}"
            ) from error

    async def _wait_until_screen_matches(
        self, session_id: str, holds: Callable[[AgentScreen], bool]
    ) -> bool:
        for pause in LOOKS:
            await wait_seconds(self._clock, pause)
            if holds(await self._agents.capture_screen(session_id)):
                return True
        return False


def _get_controls(entry: CliEntry) -> Mapping[ControlSetting, AgentControl | None]:
    controls = entry.capabilities.controls
    return {
        ControlSetting.MODEL: controls.model,
        ControlSetting.EFFORT: controls.effort,
        ControlSetting.PERMISSION_MODE: controls.permission_mode,
    }


def _is_agent_idle(rules: ScreenRules, look: AgentScreen) -> bool:
    reading = look.reading
    return reading.composer_ready and reading.dialog is None and not has_draft(look.frame, rules)


def _shows_other_value(cycle: CycleControl, value: str | None, look: AgentScreen) -> bool:
    return read_cycle_value(cycle, look.frame) != value


def _check_value(
    entry: CliEntry, control: AgentControl, setting: ControlSetting, value: str, caller: Identity
) -> None:
    param, rule = None, None
    if control.param is not None:
        param = entry.params.get(control.param)
        rule = "the mode has no such parameter" if param is None else param.find_broken_rule(value)
    way = control.way
    if rule is None and isinstance(way, CycleControl) and value not in {*way.shown, way.otherwise}:
        rule = f"must be one of {', '.join(filter(None, (way.otherwise, *way.shown)))}"
    if rule is not None:
        raise make_field_error(setting, rule)
    if param is not None and param.needs_grant(value) and not caller.can_bypass_permissions:
        raise ServiceError(
            ErrorCode.FORBIDDEN, f"{setting}: {value} needs the grant to bypass permissions"
        )
