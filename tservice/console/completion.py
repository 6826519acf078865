"""Completion scripts of the command C{tservice} for bash, zsh and fish."""

from __future__ import annotations

import argparse

from tservice.core.config.model import list_settings


def build_completion_script(shell: str, parser: argparse.ArgumentParser) -> str:
    """Return the completion script for a shell.

    @param shell: C{bash}, C{zsh} or C{fish}.
    @param parser: the parser of the whole command line.
    """
    words = {command: _list_options(inner) for command, inner in _list_commands(parser).items()}
    return {"bash": _format_bash, "zsh": _format_zsh, "fish": _format_fish}[shell](words)


def _list_commands(
    parser: argparse.ArgumentParser, before: str = ""
) -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command by its words, groups included."""
    found: dict[str, argparse.ArgumentParser] = {before: parser}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                found |= _list_commands(inner, f"{before} {name}".strip())
    return found


def _list_options(parser: argparse.ArgumentParser) -> list[str]:
    """Return the words that may follow a command."""
    found: list[str] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found += action.choices
        elif action.choices is not None:
            found += map(str, action.choices)
        found += action.option_strings
    if parser.get_default("takes_settings"):
        found += [f"--{entry.name}" for entry in list_settings() if entry.on_command_line]
    return found


def _format_bash(words: dict[str, list[str]]) -> str:
    cases = "\n".join(
        f'        "{command}") words="{" ".join(inner)}" ;;' for command, inner in words.items()
    )
    return f"""\
# Completion of tservice for bash: source <(tservice completion bash)
_tservice() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" command="${{COMP_WORDS[1]}}" words=""
    [[ $COMP_CWORD == 1 ]] && command=""
    [[ $command == service && $COMP_CWORD -gt 2 ]] && command="service ${{COMP_WORDS[2]}}"
    case "$command" in
{cases}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    [[ ${{#COMPREPLY[@]}} == 0 ]] && COMPREPLY=($(compgen -f -- "$current"))
}}
complete -F _tservice tservice
"""


def _format_zsh(words: dict[str, list[str]]) -> str:
    cases = "\n".join(
        f'    "{command}") offers=({" ".join(inner)}) ;;' for command, inner in words.items()
    )
    return f"""\
#compdef tservice
# Completion of tservice for zsh: source <(tservice completion zsh)
_tservice() {{
    local command="${{words[2]}}"
    local -a offers
    (( CURRENT == 2 )) && command=""
    [[ $command == service && $CURRENT -gt 3 ]] && command="service ${{words[3]}}"
    case "$command" in
{cases}
    esac
    compadd -a offers || _files
}}
compdef _tservice tservice
"""


def _format_fish(words: dict[str, list[str]]) -> str:
    lines = ["# Completion of tservice for fish: tservice completion fish | source"]
    for command, inner in words.items():
        test = _fish_condition(command)
        lines.append(f"complete -c tservice -n '{test}' -f -a '{' '.join(inner)}'")
    return "\n".join(lines) + "\n"


def _fish_condition(command: str) -> str:
    if not command:
        return "__fish_use_subcommand"
    seen = " ".join(f"; and __fish_seen_subcommand_from {word}" for word in command.split())
    return seen.removeprefix("; and ")
