"""Ignored files that no tool can create again, such as keys, passwords and C{.env} files."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tservice.core.disk.files import is_secret_file
from tservice.git.small_files import read_small_file
from tservice.git.status.inspector import ReadingContext, RepositoryInspector

LISTED_BYTES = 256 * 1024 * 1024
"""Maximum bytes of git's output when it lists ignored files and folders."""
COMPARED_BYTES = 1024 * 1024
"""Maximum size in bytes of a file that is compared.

A larger file counts as different.
"""

_IGNORED = (
    "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z",
)  # fmt: skip


async def list_ignored_secrets(
    inspector: RepositoryInspector, visit: ReadingContext
) -> list[bytes]:
    """List the ignored files whose names suggest secrets.

    The contents of ignored folders are not listed.

    @raise GitError: git fails.
    """
    listed = await inspector.run_git(visit, _IGNORED, LISTED_BYTES)
    return [each for each in listed.split(b"\0") if is_secret_file(os.fsdecode(each))]


def select_uncopied_paths(
    root: bytes, paths: Sequence[bytes], top: bytes, source: bytes
) -> list[bytes]:
    """Return the C{paths} below C{root} of which C{source} has no identical copy.

    Blocks.

    @param top: the folder that contains C{root}.
    @param source: folder with possible copies, at the same relative paths as in C{top}.
    """
    other = os.path.join(source, os.path.relpath(root, top))
    return [each for each in paths if not _has_identical_copy(root, each, other)]


def _has_identical_copy(root: bytes, path: bytes, other: bytes) -> bool:
    found = read_small_file(os.path.join(root, path), COMPARED_BYTES)
    return found is not None and found == read_small_file(os.path.join(other, path), COMPARED_BYTES)
