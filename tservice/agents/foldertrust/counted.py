"""What of a file counts as something that runs, and how people are shown it.  Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence, Set
from typing import Any

from attrs import frozen

from tservice.clis.interfaces import FolderSource
from tservice.core.files import VALUES_LIMIT, is_secret
from tservice.core.text import replace_harmful_characters
from tservice.core.value_limits import exceeds_value_limit

SHOWN_CHARS = 16_000
"""Characters of all that a folder brings, as people are shown it."""
_OWN_HOOK = {"type", "command", "timeout"}
"""Keys of an entry that does nothing but run its command."""
_KEY = re.compile(r"([A-Za-z_][\w-]*) *:(?: |$)")
_PROJECT = re.compile(r"\$\{?CLAUDE_PROJECT_DIR\}?\"?/|\\|\./")
_FILE_NAME = re.compile(r"[\w.@+][\w./@+-]{0,200}")


@frozen(kw_only=True)
class FolderFinding:
    """What a folder brings.

    @ivar files: what counts of each file, by its path; C{None}: it cannot be read.
    @ivar digest: of all of it, and of the files that it names: equal ones run the same.
    @ivar lasting: an answer may be remembered.
    @ivar note: why the folder could not be looked at.
    """

    files: tuple[tuple[str, str | None], ...] = ()
    digest: str = ""
    lasting: bool = True
    note: str | None = None

    @property
    def brings(self) -> bool:
        """Return whether there is something to be asked about."""
        return bool(self.files) or self.note is not None

    def summary(self) -> str:
        """Return what people are shown before they answer, whole."""
        shown = [
            f"{replace_harmful_characters(path)}\n{_shown(path, text)}" for path, text in self.files
        ]
        return self.note or "\n\n".join(shown) or "Nothing that runs was found."


def _shown(path: str, text: str | None) -> str:
    if text is None:
        return "(cannot be read, or is a link: you are asked at every start)"
    return (
        "(not shown: it may hold secrets)"
        if is_secret(path)
        else replace_harmful_characters(text).strip("\n")
    )


def digest_of(parts: Sequence[object]) -> str:
    """Return the digest of plain values."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def is_read(source: FolderSource, path: str) -> bool:
    """Return whether the agent reads that file of a source as it starts.

    Beside agents and skills lie files that run only when the agent runs them.
    """
    return not (source.harmless and source.path.endswith("/")) or path.endswith(".md")


def counted(source: FolderSource, path: str, content: str, own: Set[str]) -> str | None:
    """Return what of a file counts; C{None}: nothing does.

    @param own: commands of the service's own.
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
            _remove(value, key.split("."))
        left = _pruned(value, own)
        return None if left is None else json.dumps(left, indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return whole


def _remove(value: dict[str, Any], keys: Sequence[str]) -> None:
    inner = value.get(keys[0])
    if len(keys) == 1:
        value.pop(keys[0], None)
    elif isinstance(inner, dict):
        _remove(inner, keys[1:])


def _pruned(value: Any, own: Set[str]) -> Any:
    """Return the value without own commands, and without what is empty then."""
    if isinstance(value, list):
        return [left for item in value if (left := _pruned(item, own)) is not None] or None
    if not isinstance(value, dict):
        return value
    command = value.get("command")
    if set(value) <= _OWN_HOOK and isinstance(command, str) and command in own:
        return None
    kept = {k: left for k, item in value.items() if (left := _pruned(item, own)) is not None}
    return None if not kept or ("hooks" in value and set(kept) == {"matcher"}) else kept


def _has_other_keys(text: str, harmless: Set[str]) -> bool:
    """Return whether the front matter of a Markdown file has a key that is not harmless.

    What does not plainly read as keys counts, and so does one that never ends.
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


def named_files(text: str) -> list[str]:
    """Return what may be paths of files below the folder, in a text that counts."""
    return sorted(set(_FILE_NAME.findall(_PROJECT.sub(" ", text))))
