"""Parser of shell commands for approval rules (protocol-approval-rules).

It understands a small part of the shell's language: simple commands of literal words, joined by
C{;}, C{&&}, C{||}, C{|} and line ends. Everything else is refused, so that a rule never judges a
command by less than what the shell runs. This module does no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from attrs import frozen

from tservice.agents.approvals.risk import parse_script

if TYPE_CHECKING:
    from tree_sitter import Node

LONGEST_COMMAND = 16 * 1024
"""Maximum length of a command in characters."""
MOST_COMMANDS = 50
"""Maximum number of simple commands in one script."""
DEEPEST = 60
"""Maximum nesting of the parsed lists."""

_WORD = re.compile(r"[A-Za-z0-9_./:@%+,-][A-Za-z0-9_./:=@%+,-]*")
_RAW_STRING = re.compile(r"'[^']*'")
_STRING = re.compile(r'"[^"$`\\!]*"')
_REDIRECT = re.compile(r"[12]?>>?[ \t]*/dev/null|&>[ \t]*/dev/null|<[ \t]*/dev/null|2>&1|1>&2|>&2")
"""Redirections that neither write nor read a file."""
_SEPARATORS = frozenset({";", "&&", "||", "|", "\n"})


def split_names(names: str) -> frozenset[str]:
    """Return the names in a text, which blanks separate."""
    return frozenset(names.split())


_SHELL_WORDS = split_names(
    """
    . : [ [[ alias autoload bg bind break builtin caller case cd chdir command compgen complete
    compopt continue coproc declare dirs disable disown do done elif else emulate enable esac
    eval exec exit export fc fg fi float for foreach function functions getopts hash history if
    in integer jobs let local logout mapfile nocorrect noglob popd pushd read readarray
    readonly repeat return select set setopt shift shopt source suspend then time times trap
    type typeset ulimit umask unalias unfunction unset unsetopt until vared wait while zmodload
    """
)
"""Reserved words and commands of shells that change how the rest of a script is understood."""


class UnreadableCommandError(Exception):
    """The text is not in the part of the shell's language that rules understand."""


@frozen(kw_only=True)
class SimpleCommand:
    """Program with its arguments, as the shell passes them.

    @ivar words: the program's name and its arguments, without quotes.
    """

    words: tuple[str, ...]


def parse_commands(text: str) -> tuple[SimpleCommand, ...]:
    """Return the simple commands that a shell runs for a text, in order.

    @raise UnreadableCommandError: the text contains anything else; the message says what.
    """
    _check_characters(text)
    root = parse_script(text.encode())
    if root is None or root.has_error:
        raise UnreadableCommandError("it cannot be parsed")
    if _decode(root).strip() != text.strip():
        raise UnreadableCommandError("a part of it is not understood")
    commands = tuple(_read_statements(root, DEEPEST))
    if not 0 < len(commands) <= MOST_COMMANDS:
        raise UnreadableCommandError(f"it must hold 1 to {MOST_COMMANDS} commands")
    return commands


def _check_characters(text: str) -> None:
    if len(text) > LONGEST_COMMAND:
        raise UnreadableCommandError("it is too long")
    for character in text:
        # U+FFFD stands for a character that was replaced before it came here.
        if character == "\ufffd" or not (character.isprintable() or character in "\n\t"):
            raise UnreadableCommandError("it contains a character that cannot be seen")


def _decode(node: Node) -> str:
    return (node.text or b"").decode()


def _check_gaps(node: Node, blanks: bytes) -> None:
    """Check that nothing but blanks stands between the children of a node.

    Whatever the parser skips would be run by the shell, but seen by no rule.
    """
    source, at = node.text or b"", node.start_byte
    for child in node.children:
        if source[at - node.start_byte : child.start_byte - node.start_byte].strip(blanks):
            raise UnreadableCommandError("a part of it is not understood")
        at = child.end_byte
    if source[at - node.start_byte :].strip(blanks):
        raise UnreadableCommandError("a part of it is not understood")


def _read_statements(node: Node, depth: int) -> Iterator[SimpleCommand]:
    """Yield the simple commands below a node that joins statements."""
    if depth == 0:
        raise UnreadableCommandError("it is nested too deeply")
    match node.type:
        case "command":
            yield _read_command(node)
            return
        case "program" | "list" | "pipeline":
            _check_gaps(node, b" \t\n")
        case "redirected_statement":
            _check_gaps(node, b" \t")
        case _:
            raise UnreadableCommandError(f"it contains: {node.type.replace('_', ' ')}")
    for child in node.children:
        if node.type == "redirected_statement" and child.type == "file_redirect":
            if not _REDIRECT.fullmatch(_decode(child)):
                raise UnreadableCommandError("it redirects into or from a file")
        elif child.is_named:
            yield from _read_statements(child, depth - 1)
        elif child.type not in _SEPARATORS:
            raise UnreadableCommandError(f"it contains: {child.type}")


def _read_command(node: Node) -> SimpleCommand:
    _check_gaps(node, b" \t")
    name, *arguments = node.children
    if name.type != "command_name" or not _WORD.fullmatch(_decode(name)):
        raise UnreadableCommandError("its program is not a plain word")
    program = _decode(name)
    if "=" in program or program in _SHELL_WORDS:
        raise UnreadableCommandError(f"it uses the shell's own {program[:40]}")
    return SimpleCommand(words=(program, *map(_read_word, arguments)))


def _read_word(node: Node) -> str:
    """Return a literal word without its quotes."""
    text = _decode(node)
    match node.type:
        case "word" | "number" if _WORD.fullmatch(text):
            return text
        case "raw_string" if _RAW_STRING.fullmatch(text):
            return text[1:-1]
        case "string" if _STRING.fullmatch(text):
            return text[1:-1]
        case "concatenation":
            _check_gaps(node, b"")
            return "".join(map(_read_word, node.children))
    raise UnreadableCommandError("a word of it is not literal")
