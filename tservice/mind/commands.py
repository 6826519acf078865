"""How each CLI answers once, from its standard input, with no tool at hand.

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
"""The words behind the program, by mode."""


def command(binary: str, mode: str, model: str) -> tuple[str, ...]:
    """What runs.

    @param model: which one C{primary} asks (setting C{readMyMindModel}); empty: its own choice.
    """
    chosen = ("--model", model) if model and mode == PRIMARY else ()
    return (binary, *COMMANDS[mode], *chosen)
