"""The dialogs of Claude Code 2.1.197, as its screens show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.agents.mock_tui.choice import ChoiceList

CONFIRM = "Enter to confirm · Esc to cancel"
AMEND = " Esc to cancel · Tab to amend"
_TRUST = (
    "─",
    " Accessing workspace:",
    "",
    " {folder}",
    "",
    " Quick safety check: Is this a project you created or one you trust? (Like your own code,"
    " a well-known open source project, or work from your team). If not, take a moment to review"
    " what's in this folder first.",
    "",
    " Claude Code'll be able to read, edit, and execute files here.",
    "",
    " Security guide",
    "",
)


def trust(folder: Path, layout: str) -> tuple[ChoiceList, int]:
    """The trust dialog, and which of its options trusts."""
    above = [row.format(folder=folder) for row in _TRUST]
    yes, no = "Yes, I trust this folder", "No, exit"
    below = ("", f" {CONFIRM}")
    if layout == "reversed":
        return ChoiceList(above, (no, yes), below, numbered=False), 1
    return ChoiceList(above, (yes, no), below), 0


def bypass() -> ChoiceList:
    """The warning before running without permissions; "No" is marked."""
    above = (
        "─",
        "  WARNING: Claude Code running in Bypass Permissions mode",
        "",
        "  In Bypass Permissions mode, Claude Code will not ask for your approval before running"
        " potentially dangerous commands.",
        "  This mode should only be used in a sandboxed container/VM that has restricted internet"
        " access and can easily be restored if damaged.",
        "",
        "  By proceeding, you accept all responsibility for actions taken while running in Bypass"
        " Permissions mode.",
        "",
        "  https://code.claude.com/docs/en/security",
        "",
    )
    return ChoiceList(above, ("No, exit", "Yes, I accept"), ("", f"  {CONFIRM}"), indent=2)


def key(tail: str) -> ChoiceList:
    """Whether to use a key from the environment; "No" is marked."""
    above = (
        "─",
        "  Detected a custom API key in your environment",
        "",
        f"  ANTHROPIC_API_KEY: sk-ant-...{tail}",
        "",
        "  Do you want to use this API key?",
        "",
    )
    options = ("Yes", "No (recommended)")
    return ChoiceList(above, options, ("", f"  {CONFIRM}"), indent=2, selected=1)


def server(name: str) -> ChoiceList:
    """Whether to start a server of the project's C{.mcp.json}."""
    above = (
        "─",
        f"  New MCP server found in this project: {name}",
        "",
        "  MCP servers may execute code or access system resources. All tool calls require"
        " approval. Learn more in the MCP documentation.",
        "",
    )
    options = (
        "Use this MCP server",
        "Use this and all future MCP servers in this project",
        "Continue without using this MCP server",
    )
    return ChoiceList(above, options, ("", f"  {CONFIRM}"), indent=2)


def bash(given: Mapping[str, Any], cwd: Path) -> ChoiceList:
    """A shell command."""
    above = (
        "─",
        " Bash command",
        "",
        f"   {given['command']}",
        f"   {given['description']}",
        "",
        " Do you want to proceed?",
    )
    always = f"Yes, and always allow access to {cwd.name}/ from this project"
    return ChoiceList(above, ("Yes", always, "No"), ("", f"{AMEND} · ctrl+e to explain"))


def write(given: Mapping[str, Any]) -> ChoiceList:
    """A new file."""
    name = Path(given["file_path"]).name
    lines = str(given["content"]).splitlines()
    shown = [f"  {number} {line}" for number, line in enumerate(lines, 1)]
    question = f" Do you want to create {name}?"
    above = ("─", " Create file", f" {name}", "╌", *shown, "╌", question)
    session = "Yes, allow all edits during this session (shift+tab)"
    return ChoiceList(above, ("Yes", session, "No"), ("", AMEND))


def edit(given: Mapping[str, Any]) -> ChoiceList:
    """A change of a file."""
    name = Path(given["file_path"]).name
    old = [f" {number} -{line}" for number, line in _lines(given["old_string"])]
    new = [f" {number} +{line}" for number, line in _lines(given["new_string"])]
    question = f" Do you want to make this edit to {name}?"
    above = ("─", " Edit file", f" {name}", "╌", *old, *new, "╌", question)
    session = "Yes, allow all edits during this session (shift+tab)"
    return ChoiceList(above, ("Yes", session, "No"), ("", AMEND))


def _lines(text: str) -> Iterable[tuple[int, str]]:
    return enumerate(text.splitlines(), 1)


def fetch(given: Mapping[str, Any]) -> ChoiceList:
    """A page of the web; the only dialog of a tool without key hints below it."""
    host = urlsplit(given["url"]).hostname
    above = (
        "─",
        " Fetch",
        "",
        f'   url: "{given["url"]}", prompt: "{given["prompt"]}"',
        f"   Claude wants to fetch content from {host}",
        "",
        " Do you want to allow Claude to fetch this content?",
    )
    always = f"Yes, and don't ask again for {host}"
    return ChoiceList(above, ("Yes", always, "No, and tell Claude what to do differently (esc)"))


def leave_plan_mode() -> ChoiceList:
    """Whether to leave plan mode, where no plan was written down."""
    above = ("─", " Exit plan mode?", "", "  Claude wants to exit plan mode", "")
    return ChoiceList(above, ("Yes", "No"), indent=2)


def model() -> ChoiceList:
    """Which model to use."""
    above = (
        "─",
        "  Select model",
        "  Switch between Claude models. Your pick becomes the default for new sessions. For"
        " other/previous model names, specify with --model.",
        "",
    )
    options = (
        "Default (recommended) ✔  Use the default model (currently Opus 4.8 (1M context))"
        " · $5/$25 per Mtok",
        "Opus                     Opus 4.8 with 1M context · Best for everyday, complex tasks"
        " · $5/$25 per Mtok",
        "Sonnet                   Sonnet 5 · Efficient for routine tasks · $3/$15 per Mtok",
        "Sonnet 5 (1M context)    Sonnet 5 for long sessions · $3/$15 per Mtok",
        "Haiku                    Haiku 4.5 · Fastest for quick answers · $1/$5 per Mtok",
    )
    below = (
        "",
        "  ● High effort (default) ←/→ to adjust",
        "",
        "  Enter to set as default · s to use this session only · Esc to cancel",
    )
    return ChoiceList(above, options, below, indent=2)


def mcp(server_name: str, tool: str, cwd: Path) -> ChoiceList:
    """A tool of an MCP server."""
    above = (
        "─",
        " Tool use",
        "",
        f"   {server_name} - {tool} (MCP)",
        "   Asks the person for a name",
        "",
        " Do you want to proceed?",
    )
    always = f"Yes, and don't ask again for {server_name} - {tool} commands in {cwd}"
    return ChoiceList(above, ("Yes", always, "No"), ("", AMEND))


def plan(text: str) -> ChoiceList:
    """Whether to leave plan mode and begin."""
    shown = [f" {line.lstrip('# ')}".rstrip() for line in text.splitlines()]
    above = (
        "─",
        " Ready to code?",
        "",
        " Here is Claude's plan:",
        "╌",
        *shown,
        "╌",
        "",
        "─",
        " Claude has written up a plan and is ready to execute. Would you like to proceed?",
        "",
    )
    options = (
        "Yes, and use auto mode",
        "Yes, manually approve edits",
        "Tell Claude what to change",
    )
    below = (
        "      shift+tab to approve with this feedback",
        "",
        " ctrl+g to edit in Vim  · ~/.claude/plans/plan-zazzy-fiddle.md",
    )
    return ChoiceList(above, options, below)


def limit() -> ChoiceList:
    """What to do about a usage limit; opens by itself."""
    options = ("Stop and wait for limit to reset", "Upgrade your plan")
    above = ("─", "  What do you want to do?", "")
    return ChoiceList(above, options, ("", f"  {CONFIRM}"), indent=2)


def rewind(prompts: list[str]) -> ChoiceList:
    """Which prompt to go back to; the last entry is where one is."""
    above = (
        "─",
        "  Rewind",
        "",
        "  Restore the code and/or conversation to the point before…",
        "",
    )
    options = [*prompts, "(current)"]
    below = ("", "  Enter to continue · Esc to cancel")
    return ChoiceList(
        above, options, below, indent=2, numbered=False, selected=len(options) - 1, wraps=False
    )


_TOOLS = {"Write": write, "Edit": edit, "WebFetch": fetch}


def permission(name: str, given: Mapping[str, Any], cwd: Path) -> ChoiceList:
    """The dialog for one tool call."""
    if name == "Bash":
        return bash(given, cwd)
    if name in _TOOLS:
        return _TOOLS[name](given)
    _, server_name, tool = name.split("__", 2)
    return mcp(server_name, tool, cwd)
