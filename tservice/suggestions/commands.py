"""Command lines that run each agent CLI once, with the prompt on standard input and no tools."""

from __future__ import annotations

from collections.abc import Mapping

from tservice.clis.interfaces import PRIMARY

COMMANDS: Mapping[str, tuple[str, ...]] = {
    PRIMARY: (
        "--print",
        "--output-format",
        "json",
        "--tools",
        "",
        "--safe-mode",
        "--strict-mcp-config",
        "--no-session-persistence",
    ),
    "codex": (
        "exec",
        "--sandbox",
        "read-only",
        "--skip-git-repo-check",
        "--ephemeral",
        "--color",
        "never",
        "-",
    ),
    "gemini": (
        "--skip-trust",
        "--approval-mode",
        "default",
        "--output-format",
        "json",
        "--prompt",
        "Do as the text above says.",
    ),
    "opencode": ("run", "--pure", "Do as the text on standard input says."),
    "pi": ("--print", "--no-tools", "--no-session", "Do as the text on standard input says."),
}
"""Arguments of each agent CLI after the program's name, by session mode."""


def build_command(binary: str, mode: str, model: str) -> tuple[str, ...]:
    """Return the command line that runs an agent CLI once.

    @param binary: path of the CLI's program.
    @param mode: session mode of the CLI.
    @param model: model for mode C{primary} (setting C{readMyMindModel}). If empty, the CLI uses its
        default model.
    """
    chosen = ("--model", model) if model and mode == PRIMARY else ()
    return (binary, *COMMANDS[mode], *chosen)
