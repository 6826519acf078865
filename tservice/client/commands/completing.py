"""Completion scripts for bash, zsh and fish, generated from the records of the commands.

A script contains no text from a service. Completion runs C{tsctl ls --json} and offers ids only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tservice.client.commands.record import CommandOption, CommandSpec
from tservice.client.commands.table import COMMANDS, GLOBAL, SIGNALS

LIST_IDS_COMMAND = (
    'tsctl ls --json 2>/dev/null | sed -n \'s/^    "id": "\\([0-9a-f-]*\\)",*$/\\1/p\''
)
"""Shell command that prints one session id per line. It relies on the indentation of C{--json}
output.
"""


def build_completion_script(shell: str) -> str:
    """Return the completion script for C{shell}, one of C{table.SHELLS}."""
    return {"bash": _bash_script, "zsh": _zsh_script, "fish": _fish_script}[shell]()


def _bash_script() -> str:
    cases = "\n".join(
        f"        {_case_pattern(command)}) words={_quote_word(_candidate_words(command))};"
        f" takes=({' '.join(_list_argument_completions(command))}) ;;"
        for command in COMMANDS
    )
    groups = "\n".join(
        f"        {name}) words={_quote_word(' '.join(inner))} ;;"
        for name, inner in _group_commands().items()
    )
    return f"""\
# Completion of tsctl for bash: source <(tsctl completion bash)
_tsctl() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD - 1]}}"
    local command="" words="" offers="" place=0 at takes=()
    if [[ $current == "=" ]]; then current=""
    elif [[ $before == "=" ]]; then before="${{COMP_WORDS[COMP_CWORD - 2]}}"; fi
    for ((at = 1; at < COMP_CWORD; at++)); do
        case "${{COMP_WORDS[at]}}" in
        {"|".join(_filter_options(lambda option: bool(option.value)))}) ((at++)) ;;
        -*|=) ;;
        *)
            if [[ -z $command ]]; then command="${{COMP_WORDS[at]}}"
            elif [[ {" || ".join(f"$command == {name}" for name in _group_commands())} ]]; then
                command="$command ${{COMP_WORDS[at]}}"
            else ((place++)); fi ;;
        esac
    done
    case "$command" in
        "") words={_quote_word(" ".join(_first_words()))} ;;
{cases}
{groups}
    esac
    # Further arguments are completed like the last one.
    for offers in "${{takes[@]}}"; do ((place-- > 0)) || break; done
    [[ $current == -* ]] && offers=words
    case "$before" in
        {"|".join(_filter_options(lambda option: option.completes == "folder"))}) offers=folder ;;
        {"|".join(_filter_options(lambda option: option.completes == "file"))}) offers=file ;;
        {"|".join(_filter_options(lambda option: option.completes == "signals"))}) offers=signals ;;
    esac
    local IFS=$'\\n '
    case "$offers" in
        session) words="$({LIST_IDS_COMMAND})" ;;
        signals) words={_quote_word(SIGNALS.replace(",", " "))} ;;
        folder|file)
            IFS=$'\\n'
            compopt -o filenames 2>/dev/null
            if [[ $offers == file ]]; then COMPREPLY=($(compgen -f -- "$current"))
            else COMPREPLY=($(compgen -d -- "$current")); fi
            return ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -F _tsctl tsctl
"""


def _zsh_script() -> str:
    return f"""\
#compdef tsctl
# Completion of tsctl for zsh: source <(tsctl completion zsh)
autoload -U +X bashcompinit && bashcompinit
{_bash_script()}"""


def _fish_script() -> str:
    lines = [
        "# Completion of tsctl for fish: tsctl completion fish | source",
        "complete -c tsctl -f",
    ]
    first = "not __fish_seen_subcommand_from " + " ".join(_first_words(options=False))
    lines += [_fish_option(option, first) for option in GLOBAL]
    for command in COMMANDS:
        *group, name = command.words
        where = f"__fish_seen_subcommand_from {group[0]}" if group else first
        for word in (name, *command.aliases):
            lines.append(
                f"complete -c tsctl -n {_quote_word(where)} -a {word} "
                f"-d {_quote_word(command.help)}"
            )
        inside = f"__fish_seen_subcommand_from {' '.join((name, *command.aliases))}"
        if group:
            inside = f"__fish_seen_subcommand_from {group[0]}; and {inside}"
        lines += [_fish_option(option, inside) for option in command.options]
    for name in _group_commands():
        lines.append(f"complete -c tsctl -n {_quote_word(first)} -a {name}")
    return "\n".join(line for line in lines if line) + "\n"


def _fish_option(option: CommandOption, where: str) -> str:
    offers = _format_fish_candidates(option)
    line = f"complete -c tsctl -n {_quote_word(where)}"
    if option.is_positional:
        return f"{line} {offers}" if offers else ""
    for name in option.names:
        line += f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}"
    if option.value:
        line += " -r" if option.completes == "file" else " -x"
    return f"{line} {offers} -d {_quote_word(option.help)}"


def _format_fish_candidates(option: CommandOption) -> str:
    words = {
        "session": f"({LIST_IDS_COMMAND})",
        "folder": "(__fish_complete_directories)",
        "signals": SIGNALS.replace(",", " "),
    }.get(option.completes, " ".join(option.choices))
    if option.completes == "file":
        return "-F"
    return f"-a {_quote_word(words)}" if words else ""


def _candidate_words(command: CommandSpec) -> str:
    words: list[str] = []
    for option in command.options:
        words += option.choices if option.is_positional else option.names
    return " ".join(words)


def _list_argument_completions(command: CommandSpec) -> list[str]:
    """Return the kind of completion for each positional argument, in order."""
    return [option.completes or "words" for option in command.options if option.is_positional]


def _filter_options(wanted: Callable[[CommandOption], bool]) -> list[str]:
    """Return the names of those options of all commands for which C{wanted} returns true."""
    options = [*GLOBAL, *(option for command in COMMANDS for option in command.options)]
    found = (option for option in options if not option.is_positional and wanted(option))
    return list(dict.fromkeys(name for option in found for name in option.names))


def _case_pattern(command: CommandSpec) -> str:
    return "|".join(_quote_word(word) for word in (command.name, *command.aliases))


def _group_commands() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for command in COMMANDS:
        if len(command.words) == 2:
            found.setdefault(command.words[0], []).append(command.words[1])
    return found


def _first_words(*, options: bool = True) -> list[str]:
    words: Iterable[str] = (
        word for command in COMMANDS for word in (command.words[0], *command.aliases)
    )
    found = list(dict.fromkeys(words))
    return [*found, *(name for option in GLOBAL for name in option.names)] if options else found


def _quote_word(text: str) -> str:
    """Return the text quoted as one shell word."""
    return "'" + text.replace("'", "'\\''") + "'"
