"""What a played Claude Code does outside its screen: hooks, status line, transcript, notices."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from tests.agents.mock_tui import hooks
from tests.agents.mock_tui.engine import TimerCall, TurnEngine
from tests.agents.mock_tui.scenario import MockScenario
from tests.agents.mock_tui.transcript import MockTranscript

PERMISSION_NOTICE = 6.0
"""Seconds from a dialog to its Notification; a key starts them anew."""

LEFT, ENDED = 60.0, 5.0
"""Seconds that its last hooks may take: of one that somebody left, and of one that was ended."""

IDLE_NOTICE = 60.0
"""Seconds from Stop to the idle Notification, where the home sets nothing else."""

_WITH_MODE = {
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PermissionRequest",
    "Stop",
}
_WITH_EFFORT = (_WITH_MODE | {"StopFailure"}) - {"UserPromptSubmit"}
_WITHOUT_PROMPT = {"SessionStart"}


@frozen(kw_only=True)
class MockClaudeOptions:
    """The command line and the surroundings.

    @ivar env: as given to the program.
    @ivar session: its id; a resumed one continues its transcript.
    """

    home: Path
    cwd: Path
    env: Mapping[str, str]
    session: str
    source: str = "startup"
    mode: str = "default"
    model: str = "claude-opus-4-8[1m]"
    display: str = "Opus 4.8 (1M context)"
    effort: str = "high"
    settings: str | None = None

    @property
    def subscription(self) -> bool:
        """Whether it logs in with a token rather than a key."""
        return "CLAUDE_CODE_OAUTH_TOKEN" in self.env


class MockClaudeSession:
    """One conversation and the commands that watch it."""

    def __init__(
        self, options: MockClaudeOptions, scenario: MockScenario, engine: TurnEngine
    ) -> None:
        self.options, self.mode = options, options.mode
        self._scenario, self._engine = scenario, engine
        self._found = self._settings()
        env = {**options.env, "CLAUDECODE": "1", "CLAUDE_PROJECT_DIR": str(options.cwd)}
        self._hooks = hooks.HookCommandQueue(options.cwd, env)
        self._line = hooks.HookCommandQueue(options.cwd, env)
        self.status: str | None = None
        self.used = False
        self._notice: TimerCall | None = None
        self._notice_of: tuple[str, str] | None = None
        self._idle: TimerCall | None = None
        self._open(options.session)

    def _open(self, identifier: str) -> None:
        self.id, self.prompt_id = identifier, str(uuid.uuid4())
        self.transcript = MockTranscript(self.options.home, self.options.cwd, identifier)

    def _settings(self) -> list[dict[str, Any]]:
        cwd, home = self.options.cwd, self.options.home
        files = [
            home / ".claude" / "settings.json",
            cwd / ".claude" / "settings.json",
            cwd / ".claude" / "settings.local.json",
        ]
        found = hooks.settings(files)
        given = self.options.settings
        if given is None:
            return found
        text = given if given.startswith("{") else Path(given).read_text("utf-8")
        return [*found, json.loads(text)]

    def start(self, source: str) -> None:
        """The conversation begins."""
        self.fire("SessionStart", source=source, model=self.options.model)
        self.refresh()

    def clear(self) -> None:
        """C{/clear}: the conversation ends, another begins under a new id."""
        self.fire("SessionEnd", reason="clear")
        self._open(str(uuid.uuid4()))
        self.used = False
        self.start("clear")

    def fire(self, event: str, **fields: Any) -> None:
        """Run an event's hooks, after those before it."""
        for command in self._find_commands(event, fields):
            self._hooks.add(command)

    def ask(self, done: Callable[[str], None], **fields: Any) -> None:
        """Run the hooks of a permission dialog beside it; C{done} gets what one of them prints."""
        for command in self._find_commands("PermissionRequest", fields):
            self._hooks.add(evolve(command, done=done, is_beside=True))

    def _find_commands(
        self, event: str, fields: Mapping[str, Any]
    ) -> Iterator[hooks.HookCommandRun]:
        payload: dict[str, Any] = {
            "session_id": self.id,
            "transcript_path": str(self.transcript.path),
            "cwd": str(self.options.cwd),
        }
        if event not in _WITHOUT_PROMPT:
            payload["prompt_id"] = self.prompt_id
        if event in _WITH_MODE:
            payload["permission_mode"] = self.mode
        if event in _WITH_EFFORT:
            payload["effort"] = {"level": self.options.effort}
        payload |= {"hook_event_name": event, **fields}
        return hooks.commands(self._found, event, payload)

    def prompted(self, text: str) -> None:
        """A prompt was submitted."""
        self.prompt_id = str(uuid.uuid4())
        self._begun()
        self.transcript.prompt(text, self.prompt_id, self.mode)
        self.fire("UserPromptSubmit", prompt=text)

    def ran(self, command: str, told: str) -> None:
        """A shell command of the person's own ended; the model is told C{told}."""
        self._begun()
        self.transcript.ran(command, told)

    def _begun(self) -> None:
        if not self.used:
            self.transcript.open()
        self.used = True
        self.cancel_idle()

    def stopped(self, text: str) -> None:
        """A turn ended by itself."""
        self.fire(
            "Stop",
            stop_hook_active=False,
            last_assistant_message=text,
            background_tasks=[],
            session_crons=[],
        )
        self._idle = self._engine.later(self._idle_seconds(), self._is_idle)
        self.refresh()

    def _idle_seconds(self) -> float:
        state = self.options.home / ".claude.json"
        known = json.loads(state.read_text("utf-8")) if state.exists() else {}
        return float(known.get("messageIdleNotifThresholdMs", IDLE_NOTICE * 1000)) / 1000

    def _is_idle(self) -> None:
        text = "Claude is waiting for your input"
        self.fire("Notification", message=text, notification_type="idle_prompt")

    def cancel_idle(self) -> None:
        """Something happens: no idle notice."""
        if self._idle is not None:
            self._idle.cancel()

    def dialog(self, kind: str, message: str) -> None:
        """A dialog opened: its notice comes later."""
        self._notice_of = kind, message
        self.touched()
        self.refresh()

    def touched(self) -> None:
        """A key was pressed: a dialog's notice waits anew."""
        if self._notice is not None:
            self._notice.cancel()
        if self._notice_of is not None:
            self._notice = self._engine.later(PERMISSION_NOTICE, self._notify)

    def _notify(self) -> None:
        assert self._notice_of is not None
        kind, message = self._notice_of
        self._notice_of = None
        self.fire("Notification", message=message, notification_type=kind)

    def answered(self) -> None:
        """The dialog is gone: no notice."""
        self._notice_of = None
        self.touched()

    def refresh(self) -> None:
        """Ask the status line's command for its row."""
        line = hooks.status_line(self._found)
        if line is None:
            return
        self._line.add(hooks.HookCommandRun(line, json.dumps(self._status()), 5.0, self._show))

    def _show(self, said: str) -> None:
        rows = said.splitlines()
        self.status = rows[0] if rows else ""

    def _status(self) -> dict[str, Any]:
        options = self.options
        status: dict[str, Any] = {
            "session_id": self.id,
            "transcript_path": str(self.transcript.path),
            "cwd": str(options.cwd),
            "effort": {"level": options.effort},
            "model": {"id": options.model, "display_name": options.display},
            "workspace": {
                "current_dir": str(options.cwd),
                "project_dir": str(options.cwd),
                "added_dirs": [],
            },
            "version": "2.1.197",
            "output_style": {"name": "default"},
            "cost": {"total_cost_usd": 0.01122 if self.used else 0, "total_duration_ms": 1000},
            "context_window": self._context(),
            "exceeds_200k_tokens": False,
        }
        if self._scenario.limits is not None and self.used:
            status["rate_limits"] = _rate_limits(self._scenario.limits)
        return status

    def _context(self) -> dict[str, Any]:
        used = 6200 if self.used else 0
        return {
            "total_input_tokens": used,
            "total_output_tokens": 34 if self.used else 0,
            "context_window_size": 1_000_000,
            "used_percentage": 1 if self.used else None,
            "remaining_percentage": 99 if self.used else None,
        }

    def tick(self) -> None:
        """Look after the commands."""
        self._hooks.tick()
        self._line.tick()

    def close(self, *, left: bool) -> None:
        """The program ends; its last hooks still run."""
        self.fire("SessionEnd", reason="prompt_input_exit" if left else "other")
        self._hooks.close(LEFT if left else ENDED)
        self._line.close(ENDED)


def _rate_limits(limits: Mapping[str, float]) -> dict[str, Any]:
    reset = int(time.time() + limits.get("reset", 7200))
    return {
        "five_hour": {"used_percentage": round(limits["five_hour"] * 100), "resets_at": reset},
        "seven_day": {
            "used_percentage": round(limits["seven_day"] * 100),
            "resets_at": reset + 400_000,
        },
    }
