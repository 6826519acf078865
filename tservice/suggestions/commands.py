"""Command lines with which each CLI answers once from its standard input, without tools.

Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

PRIMARY = "primary"

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
"""Arguments after the program, by mode."""


def build_command(binary: str, mode: str, model: str) -> tuple[str, ...]:
    """Return the command line of a CLI.

    @param model: model of C{primary} (setting C{readMyMindModel}); empty: the CLI's default.
    """
    chosen = ("--model", model) if model and mode == PRIMARY else ()
    return (binary, *COMMANDS[mode], *chosen)
