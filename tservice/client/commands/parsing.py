"""Command-line parser built from the records of L{tservice.client.commands.table}."""

from __future__ import annotations

import argparse
import itertools
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from tservice import __version__
from tservice.client.commands.record import CommandOption, CommandSpec
from tservice.client.commands.table import COMMANDS, GLOBAL
from tservice.client.terminal.safe import safe_line

USAGE = 2
"""Exit status for an invalid command line."""

GROUPS = {
    "audit": "the audit log",
    "cases": "the cases",
    "checks": "commands that run after a turn, and their results",
    "cron": "scheduled jobs",
    "files": "files of a workspace",
    "pr": "pull requests of sessions, by the gh or glab of their user",
    "review": "what a session changed, and comments on it",
    "rules": "rules that answer agents",
}
"""Help texts of command groups by the first word, such as C{files} of C{files get}."""


_NUMBER = re.compile("[1-9][0-9]{0,8}")


class OneLineErrorParser(argparse.ArgumentParser):
    """Argument parser that prints an error as one line."""

    def error(self, message: str) -> NoReturn:
        program = self.prog.partition(" ")[0]
        print(f"{program}: {safe_line(message)} (see {self.prog} --help)", file=sys.stderr)
        raise SystemExit(USAGE)


def parse_command_line(argv: Sequence[str]) -> tuple[CommandSpec, argparse.Namespace]:
    """Parse the command line, and return the command and its arguments.

    @raise SystemExit: 0 after printing help or the version, L{USAGE} after an error.
    """
    words = build_parser().parse_args(_normalize_arguments(argv))
    return words.record, words


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = OneLineErrorParser(
        prog="tsctl", description="Control tservice from a shell.", allow_abbrev=False
    )
    top.add_argument("--version", action="version", version=f"tsctl {__version__}")
    top.add_argument("--at", metavar="NAME", help="a service of ~/.config/tservice/tsctl.yaml")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    groups = {
        name: commands.add_parser(name, help=text, description=text).add_subparsers(
            metavar="COMMAND", required=True
        )
        for name, text in GROUPS.items()
    }
    for command in COMMANDS:
        *group, name = command.words
        parent = groups[group[0]] if group else commands
        _add_options(
            parent.add_parser(
                name, help=command.help, description=f"{command.help}. {command.about}",
                aliases=command.aliases, allow_abbrev=False,
            ),
            command,
        )  # fmt: skip
    return top


def _add_options(parser: argparse.ArgumentParser, command: CommandSpec) -> None:
    parser.set_defaults(record=command)
    groups: dict[str, Any] = {}
    for option in command.options:
        target: Any = parser
        if option.apart:
            if option.apart not in groups:
                groups[option.apart] = parser.add_mutually_exclusive_group()
            target = groups[option.apart]
        _add_option(target, option)


def _add_option(target: Any, option: CommandOption) -> None:
    words: dict[str, Any] = {"help": option.help.replace("%", "%%")}
    if option.is_positional:
        names = [option.key]
        words["metavar"] = option.names[0]
    else:
        names, words["dest"] = list(option.names), option.key
    if not option.is_positional and not option.value:
        target.add_argument(*names, action="store_true", **words)
        return
    if option.value:
        words["metavar"] = option.value
    if option.repeat or option.bare:
        words["nargs"] = option.repeat or "?"
    if option.bare:
        words["const"] = ""
    if option.choices:
        words["choices"] = option.choices
    if option.number:
        words["type"] = _parse_number
    if option.default:
        words["default"] = option.default
    target.add_argument(*names, **words)


def _parse_number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _normalize_arguments(argv: Sequence[str]) -> list[str]:
    """Return the command line in an order that argparse accepts.

    Options are moved before arguments: argparse would treat a missing optional argument as absent
    at the first option. An option with an optional value gets a C{=}, so that argparse does not use
    the next word as its value.
    """
    start = 0
    while start < len(argv) and argv[start].startswith("-"):
        start += 2 if argv[start] in _list_options_with_values(GLOBAL) else 1
    for command in COMMANDS:
        for words in (command.words, *((alias,) for alias in command.aliases)):
            end = start + len(words)
            if tuple(argv[start:end]) == words:
                return [*argv[:end], *_move_options_first(command, argv[end:])]
    return list(argv)


def _move_options_first(command: CommandSpec, argv: Sequence[str]) -> list[str]:
    taking = _list_options_with_values(command.options)
    bare = {name for option in command.options if option.bare for name in option.names}
    options: list[str] = []
    arguments: list[str] = []
    words = iter(argv)
    for word in words:
        if word == "--":
            arguments += words
            return [*options, "--", *arguments]
        if word == "-" or not word.startswith("-"):
            arguments.append(word)
            continue
        options.append(f"{word}=" if word in bare else word)
        if word in taking:
            options += itertools.islice(words, 1)
    return [*options, *arguments]


def _list_options_with_values(options: Sequence[CommandOption]) -> set[str]:
    """Return the names of options whose value is the following word."""
    return {name for option in options if option.value and not option.bare for name in option.names}
