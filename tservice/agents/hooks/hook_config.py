"""Content of a workspace's C{.claude/settings.local.json} (protocol-hook-config).

The user's entries stay as they are. The service's entries are recognized by their command and
replaced by those of this version. This module does no I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from tservice.agents.hooks.hook_script import BOUND, build_hook_command, is_own_hook
from tservice.agents.hooks.statusline import build_status_command, is_own_status
from tservice.agents.model import HookEvent

HOOKS: tuple[tuple[str, str | None, HookEvent], ...] = (
    ("Notification", "idle_prompt", HookEvent.IDLE_PROMPT),
    ("Notification", "permission_prompt", HookEvent.PERMISSION_PROMPT),
    ("Notification", "agent_needs_input", HookEvent.PERMISSION_PROMPT),
    ("Notification", "elicitation_dialog", HookEvent.ELICITATION_DIALOG),
    ("Notification", "elicitation_complete", HookEvent.ELICITATION_COMPLETE),
    ("Notification", "elicitation_response", HookEvent.ELICITATION_RESPONSE),
    ("PermissionRequest", None, HookEvent.PERMISSION_PROMPT),
    ("Elicitation", None, HookEvent.ELICITATION_DIALOG),
    ("ElicitationResult", None, HookEvent.ELICITATION_RESPONSE),
    ("Stop", None, HookEvent.STOP),
    ("StopFailure", None, HookEvent.STOP),
    ("UserPromptSubmit", None, HookEvent.PROMPT_SUBMITTED),
    ("SessionStart", None, HookEvent.SESSION_START),
    ("SessionEnd", None, HookEvent.SESSION_END),
    ("TeammateIdle", None, HookEvent.TEAMMATE_IDLE),
    ("TaskCompleted", None, HookEvent.TASK_COMPLETED),
    ("TaskCreated", None, HookEvent.TASK_CREATED),
    ("PreToolUse", None, HookEvent.TOOL_STARTED),
    ("PostToolUse", None, HookEvent.TOOL_ENDED),
    ("PostToolUseFailure", None, HookEvent.TOOL_ENDED),
    ("PermissionDenied", None, HookEvent.PERMISSION_DENIED),
    ("SubagentStart", None, HookEvent.SUBAGENT_STARTED),
    ("SubagentStop", None, HookEvent.SUBAGENT_STOPPED),
)
"""Hook events of the agent, each with its matcher and the corresponding event of the service.

PreCompact and PostCompact are not used, because the agent prints their whole command on the screen.
"""

DIALOG_EVENT = "PermissionRequest"
"""Event of a permission dialog, for which the agent's channel has its own hook."""

_AGENT_TIMEOUT = BOUND + 5
"""Seconds after which the agent kills a hook, which is after the hook's own time limit."""


@frozen(kw_only=True)
class CommandHook:
    """Command that an agent runs at an event.

    @ivar timeout: seconds after which the agent ends the command.
    """

    command: str
    timeout: int


class UnusableSettingsError(Exception):
    """The content does not look like an agent's settings, so the file is not changed."""


def merge_settings(
    settings: object,
    *,
    hooks: bool,
    telemetry: bool,
    own_line: str | None = None,
    dialog_hook: CommandHook | None = None,
) -> dict[str, Any]:
    """Return the settings with or without the service's entries.

    @param settings: the file's content.
    @param hooks: true to add the hooks, false to remove them.
    @param telemetry: true to add the status line, false to remove it.
    @param own_line: the user's own status line command from another file, which the service's
        status line runs.
    @param dialog_hook: the hook for permission dialogs; C{None} to only report them.
    @raise UnusableSettingsError: the settings, or a part that would receive entries, are not an
        object.
    """
    if not isinstance(settings, dict):
        raise UnusableSettingsError("it is not a JSON object")
    merged = dict(settings)
    _merge_hooks(merged, wanted=hooks, dialog_hook=dialog_hook)
    _merge_status_line(merged, telemetry, own_line)
    return merged


def find_own_status_line(settings: object) -> str | None:
    """Return the user's own status line command in a settings file; C{None} if there is none."""
    line = settings.get("statusLine") if isinstance(settings, dict) else None
    command = line.get("command") if isinstance(line, dict) else None
    if not isinstance(command, str) or not command.strip() or is_own_status(command):
        return None
    return command


def _merge_hooks(
    settings: dict[str, Any], *, wanted: bool, dialog_hook: CommandHook | None
) -> None:
    there = settings.get("hooks", {})
    if not isinstance(there, dict):
        raise UnusableSettingsError("its hooks are not an object")
    hooks = {event: _remove_own_groups(event, groups) for event, groups in there.items()}
    emptied = [event for event, groups in hooks.items() if not groups and there[event]]
    for event in emptied:
        del hooks[event]
    if wanted:
        for event, matcher, told in HOOKS:
            hook = CommandHook(command=build_hook_command(told), timeout=_AGENT_TIMEOUT)
            if event == DIALOG_EVENT and dialog_hook is not None:
                hook = dialog_hook
            hooks.setdefault(event, []).append(_make_group(matcher, hook))
    if hooks or ("hooks" in settings and not emptied):
        settings["hooks"] = hooks
    else:
        settings.pop("hooks", None)


def _remove_own_groups(event: str, groups: object) -> list[Any]:
    if not isinstance(groups, list):
        raise UnusableSettingsError(f"its hooks of {event} are not a list")
    return [kept for kept in map(_remove_own_hooks, groups) if kept is not None]


def _remove_own_hooks(group: Any) -> Any:
    """Return the group without the service's commands; C{None} if no others are left."""
    hooks = group.get("hooks") if isinstance(group, Mapping) else None
    if not isinstance(hooks, list):
        return group
    kept = [hook for hook in hooks if not _is_own_entry(hook)]
    if len(kept) == len(hooks):
        return group
    return {**group, "hooks": kept} if kept else None


def _is_own_entry(hook: object) -> bool:
    return isinstance(hook, Mapping) and is_own_hook(hook.get("command"))


def _make_group(matcher: str | None, event_hook: CommandHook) -> dict[str, Any]:
    hook = {
        "type": "command",
        "command": event_hook.command,
        "timeout": event_hook.timeout,
    }
    return {**({} if matcher is None else {"matcher": matcher}), "hooks": [hook]}


def _merge_status_line(settings: dict[str, Any], wanted: bool, own_line: str | None) -> None:
    there = settings.get("statusLine")
    ours = isinstance(there, Mapping) and is_own_status(there.get("command"))
    if there is not None and not ours:
        return
    if wanted:
        settings["statusLine"] = {"type": "command", "command": build_status_command(own_line)}
    elif ours:
        del settings["statusLine"]
