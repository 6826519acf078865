"""Response model of a file tree (protocol-files)."""

from __future__ import annotations

from typing import Any, Literal

from tservice.core.values.payload import Payload, omit_if_false, omit_if_none


class FileEntryAnswer(Payload):
    """Entry of a tree. C{children} is absent if the folder was not read."""

    name: str
    path: str
    type: Literal["file", "dir", "link", "other"]
    size: int | None = omit_if_none()
    mtime_ms: int
    children: list[FileEntryAnswer] | None = omit_if_none()
    truncated: bool = omit_if_false()


class FileTreeAnswer(Payload):
    """Tree; the totals count its entries."""

    root: str
    path: str
    tree: list[FileEntryAnswer]
    total_files: int
    total_directories: int
    truncated: bool


def build_tree_response(found: dict[str, Any]) -> FileTreeAnswer:
    """Return the response for the tree C{found}. Runs in a worker thread.

    Entries are validated one by one. A single call for all of them would hold the interpreter lock
    and delay all terminals.
    """
    return FileTreeAnswer.model_validate(
        {**found, "tree": [_build_entry(one) for one in found["tree"]]}
    )


def _build_entry(found: dict[str, Any]) -> FileEntryAnswer:
    if "children" in found:
        found = {**found, "children": [_build_entry(one) for one in found["children"]]}
    return FileEntryAnswer.model_validate(found)
