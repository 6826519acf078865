"""Detection of possible risks in a command by a shell parser (protocol-approvals).

The result is only a hint and no protection: scripts, and commands that the rules do not know, get
none. This module does no I/O.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from tservice.agents.approvals import risk_rules as rules

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Point

STEPS = 300
"""Maximum steps of the parser: a plain command of 16 KB takes 260; some others would take
seconds.
"""
DEPTH = 5
"""Maximum nesting depth of scripts that are examined."""
BEGINS = 12
"""Number of words of a command, from its start, at which a nested command may begin."""
_DYNAMIC = re.compile(r"\$|`|<\(")
_GIVEN = re.compile(r"\$\(|`|<\(")
_LINE_END = re.compile(r"\\\r?\n")


def find_risk(command: str, *, wrapped: bool = False) -> str | None:
    """Return the risk that a person should know before allowing a command; C{None} without one.

    @param wrapped: the command was read from a screen, where one line may be wrapped into several
        rows.
    """
    texts = (command, command.replace("\n", ""), command.replace("\n", " "))
    return _get_first_risk(
        _find_script_risk(text, DEPTH) for text in (texts if wrapped else texts[:1])
    )


def find_screen_risk(rows: Sequence[str]) -> str | None:
    """Return the risk that the rows of a dialog show, if its command is unknown."""
    return _get_first_risk(
        _find_script_risk(row.strip(" $│┃"), DEPTH, strict=False) for row in rows
    )


def _get_first_risk(hints: Iterable[str | None]) -> str | None:
    return next((hint for hint in hints if hint is not None), None)


def _find_script_risk(text: str, depth: int, *, strict: bool = True) -> str | None:
    """Return the first risk in a script; a script that cannot be parsed is a risk too.

    @param depth: the nesting depth of the script.
    """
    # A continued line is one line, even within a word.
    source = _LINE_END.sub("", text).encode("utf-8", "replace")
    root = parse_script(source)
    if root is None or depth == 0:
        return rules.UNREADABLE
    found = _get_first_risk(_find_node_risk(node, depth) for node in _iterate_nodes(root))
    return found or (rules.UNREADABLE if strict and root.has_error else None)


@cache
def _load_language() -> Language:
    import tree_sitter_bash  # 1 MB that is not needed until a command waits for approval
    from tree_sitter import Language

    return Language(tree_sitter_bash.language())


def parse_script(source: bytes) -> Node | None:
    """Return the syntax tree of a script; C{None} if parsing takes too many steps."""
    from tree_sitter import Parser

    steps = iter(range(STEPS))

    def read_source(at: int, _: Point) -> bytes:
        return source[at : at + 4096]

    def is_too_long(*_: object) -> bool:
        return next(steps, None) is None

    try:
        return Parser(_load_language()).parse(read_source, progress_callback=is_too_long).root_node
    except ValueError:
        # The parser reports that it was stopped.
        return None


def _iterate_nodes(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.named_children))


def _find_node_risk(node: Node, depth: int) -> str | None:
    match node.type:
        case "command":
            return _find_words_risk([*_split_command(node), *_find_inline_input(node)], depth)
        case "pipeline":
            return _find_pipeline_risk(node)
        case "file_redirect":
            return _get_first_risk(
                map(_find_redirect_risk, map(_unquote_word, node.named_children))
            )
        case "function_definition":
            name = node.named_children[0].text
            calls = (each for each in _iterate_nodes(node) if each.type == "command_name")
            return rules.ENDLESS if any(each.text == name for each in calls) else None
    return None


def _find_redirect_risk(path: str) -> str | None:
    return rules.NETWORK if path.startswith("/dev/tcp/") else rules.find_path_risk(path)


def _split_command(command: Node) -> list[str]:
    """Return a command's name and arguments, without quotes and assignments."""
    parts = (each for each in command.named_children if not each.type.endswith("redirect"))
    return [_unquote_word(each) for each in parts if each.type != "variable_assignment"]


def _find_inline_input(command: Node) -> list[str]:
    """Return the texts that the script itself passes to a command's standard input."""
    outer = command.parent
    nodes = [] if outer is None or outer.type != "redirected_statement" else outer.named_children
    given = (
        inner for each in nodes if each.type == "heredoc_redirect" for inner in _iterate_nodes(each)
    )
    here = (each for each in command.named_children if each.type == "herestring_redirect")
    bodies = [_decode_node(each) for each in given if each.type == "heredoc_body"]
    return bodies + [_unquote_word(each.named_children[0]) for each in here if each.named_children]


def _decode_node(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _unquote_word(node: Node) -> str:
    text = _decode_node(node)
    match node.type:
        case "command_name" | "concatenation":
            return "".join(map(_unquote_word, node.named_children)) or text
        case "raw_string":
            return text[1:-1]
        case "string":
            return re.sub(r'\\([$`"\\])', r"\1", text[1:-1])
        case "ansi_c_string":
            return codecs.decode(text[2:-1], "unicode_escape", "replace")
        case "word":
            return re.sub(r"\\(.)", r"\1", text)
    return text


def _get_program_name(word: str) -> str:
    return word.rpartition("/")[2]


def _find_words_risk(words: Sequence[str], depth: int) -> str | None:
    found = _find_program_risk(words)
    name, rest = (_get_program_name(words[0]), words[1:]) if words else ("", ())
    if found is None and (rules.SHELLS.fullmatch(name) or rules.WRAPPERS.fullmatch(name)):
        return _find_nested_risk(name, rest, depth)
    return found


def _find_program_risk(words: Sequence[str]) -> str | None:
    """Return the risk of a program with its arguments, ignoring programs that it starts."""
    if not words:
        return None
    name, rest = _get_program_name(words[0]), words[1:]
    if _DYNAMIC.search(name):
        return rules.UNKNOWN
    shell = rules.SHELLS.fullmatch(name) is not None
    if (shell or name in rules.EVALUATORS) and any(_GIVEN.search(word) for word in rest):
        return rules.find_script_output_risk(" ".join(rest))
    evaluates = name == "eval" or (shell and any(re.fullmatch(r"-\w*c", each) for each in rest))
    if evaluates and any(word.startswith("$") for word in rest):
        return rules.UNKNOWN
    return rules.find_command_risk(name, rest)


def _find_nested_risk(name: str, rest: Sequence[str], depth: int) -> str | None:
    """Return the risk of a nested command, which may begin at any of the first words."""
    if name == "eval":
        return _find_script_risk(" ".join(rest), depth - 1)
    scripts = [word for word in rest if re.search(r"[\s;|&]", word)]
    if len(scripts) > BEGINS:
        return rules.UNREADABLE
    inner = _get_first_risk(_find_script_risk(word, depth - 1, strict=False) for word in scripts)
    begins = [at for at, word in enumerate(rest) if word[:1] != "-"][:BEGINS]
    return inner or _get_first_risk(_find_program_risk(rest[at:]) for at in begins)


def _find_pipeline_risk(node: Node) -> str | None:
    """Return the risk of a pipeline in which one program runs the output of another."""
    words = [
        found
        for each in _iterate_nodes(node)
        if each.type == "command" and (found := _split_command(each))
    ]
    # Words after the here-document mark on its line are parsed separately from those before it.
    given = node.parent is not None and node.parent.type == "heredoc_redirect"
    for each in words if given else words[1:]:
        begins = (
            range(min(len(each), BEGINS))
            if rules.WRAPPERS.fullmatch(_get_program_name(each[0]))
            else (0,)
        )
        if any(_reads_script_from_input(each[at:]) for at in begins):
            return rules.find_script_output_risk(
                " ".join(_get_program_name(before[0]) for before in words)
            )
    return None


def _reads_script_from_input(words: Sequence[str]) -> bool:
    """Return true if the command is a shell or an interpreter that reads a script from standard
    input.
    """
    name, script = _get_program_name(words[0]), words[1] if len(words) > 1 else "-"
    if rules.SHELLS.fullmatch(name):
        return script.startswith("-") and not re.fullmatch(r"-\w*c", script)
    return rules.INTERPRETERS.fullmatch(name) is not None and script == "-"
