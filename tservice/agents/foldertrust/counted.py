"""Extraction of those parts of a file that can make an agent run something.

This module does no I/O.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence, Set
from typing import Any

from attrs import frozen

from tservice.clis.interfaces import FolderSource
from tservice.core.disk.files import VALUES_LIMIT, is_secret_file
from tservice.core.values.text import replace_harmful_characters
from tservice.core.values.value_limits import exceeds_value_limit

SHOWN_CHARS = 16_000
"""Maximum characters of the summary that people are shown."""
_OWN_HOOK = {"type", "command", "timeout"}
"""Keys of a hook's entry that does nothing but run its command."""
_KEY = re.compile(r"([A-Za-z_][\w-]*) *:(?: |$)")
_PROJECT = re.compile(r"\$\{?CLAUDE_PROJECT_DIR\}?\"?/|\\|\./")
_FILE_NAME = re.compile(r"[\w.@+][\w./@+-]{0,200}")


@frozen(kw_only=True)
class FolderFinding:
    """Files in a folder that can make an agent run something.

    @ivar files: path and relevant parts of each file; C{None} as parts if the file cannot be read.
    @ivar digest: digest of these parts, and of the files to which they refer. Folders with equal
        digests run the same commands.
    @ivar lasting: the answer to a question about the folder may be remembered.
    @ivar note: the reason why the folder could not be examined; C{None} if it was.
    """

    files: tuple[tuple[str, str | None], ...] = ()
    digest: str = ""
    lasting: bool = True
    note: str | None = None

    @property
    def needs_question(self) -> bool:
        """True if a person must be asked about the folder."""
        return bool(self.files) or self.note is not None

    def format_summary(self) -> str:
        """Return the text about the folder that people see before they answer."""
        shown = [
            f"{replace_harmful_characters(path)}\n{_format_file(path, text)}"
            for path, text in self.files
        ]
        return self.note or "\n\n".join(shown) or "Nothing that runs was found."


def _format_file(path: str, text: str | None) -> str:
    if text is None:
        return "(cannot be read, or is a link: you are asked at every start)"
    return (
        "(not shown: it may hold secrets)"
        if is_secret_file(path)
        else replace_harmful_characters(text).strip("\n")
    )


def compute_digest(parts: Sequence[object]) -> str:
    """Return a digest of values that JSON can represent."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def is_startup_file(source: FolderSource, path: str) -> bool:
    """Return true if the agent reads the file of a source when it starts.

    Folders of agents and skills also contain files that run only when the agent runs them.
    """
    return not (source.harmless and source.path.endswith("/")) or path.endswith(".md")


def extract_runnable_parts(
    source: FolderSource, path: str, content: str, own: Set[str]
) -> str | None:
    """Return the parts of a file that can make an agent run something; C{None} if there are none.

    @param own: commands of the service itself, which are ignored.
    """
    whole = content if content.strip() else None
    if not source.harmless:
        return whole
    if path.endswith(".md"):
        return whole if _has_other_keys(content, set(source.harmless)) else None
    try:
        value = None if exceeds_value_limit(content, VALUES_LIMIT) else json.loads(content)
        if not isinstance(value, dict):
            return whole
        for key in source.harmless:
            _remove_key(value, key.split("."))
        left = _prune_own_commands(value, own)
        return None if left is None else json.dumps(left, indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return whole


def _remove_key(value: dict[str, Any], keys: Sequence[str]) -> None:
    inner = value.get(keys[0])
    if len(keys) == 1:
        value.pop(keys[0], None)
    elif isinstance(inner, dict):
        _remove_key(inner, keys[1:])


def _prune_own_commands(value: Any, own: Set[str]) -> Any:
    """Return the value without the service's own commands, and without containers that become
    empty.
    """
    if isinstance(value, list):
        return [
            left for item in value if (left := _prune_own_commands(item, own)) is not None
        ] or None
    if not isinstance(value, dict):
        return value
    command = value.get("command")
    if set(value) <= _OWN_HOOK and isinstance(command, str) and command in own:
        return None
    kept = {
        k: left for k, item in value.items() if (left := _prune_own_commands(item, own)) is not None
    }
    return None if not kept or ("hooks" in value and set(kept) == {"matcher"}) else kept


def _has_other_keys(text: str, harmless: Set[str]) -> bool:
    """Return true if the front matter of a Markdown file has a key that is not harmless.

    Text that cannot be parsed as simple keys counts as such a key, and so does front matter without
    an end.
    """
    lines = text.lstrip("\ufeff \t\r\n").splitlines()
    if not lines or not lines[0].startswith("---"):
        return False
    for line in lines[1:]:
        if line.startswith("---"):
            return False
        key = _KEY.match(line)
        if line[:1] not in ("", " ", "\t", "#") and (key is None or key[1] not in harmless):
            return True
    return True


def find_possible_paths(text: str) -> list[str]:
    """Return all words in C{text} that may be paths of files below the folder."""
    return sorted(set(_FILE_NAME.findall(_PROJECT.sub(" ", text))))
