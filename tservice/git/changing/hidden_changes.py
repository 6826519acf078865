"""Changed files that no status shows, because git was configured to ignore their changes."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from functools import partial

from tservice.core.workers.thread_runners import RunInThread
from tservice.git.status.inspector import ReadingContext, RepositoryInspector

MAX_COMPARED = 2000
"""Maximum number of files that are compared.

If there are more, every file counts as changed.
"""
LISTED_BYTES = 256 * 1024 * 1024
"""Maximum bytes of git's output when it lists all files."""

_AT_ONCE = 200
"""Maximum number of files on the command line of one git process."""
_FLAGGED = re.compile(rb"(?:^|\0)[a-zS] ([^\0]+)")
"""Matches a marked file in C{git ls-files -v}.

A lower-case letter means C{assume-unchanged}, and C{S} means C{skip-worktree}.
"""


async def count_hidden_changes(
    inspector: RepositoryInspector, visit: ReadingContext, in_thread: RunInThread
) -> int:
    """Count changed files that are marked C{assume-unchanged} or C{skip-worktree}.

    @raise GitError: git fails.
    """
    listed = await inspector.run_git(visit, ("ls-files", "-v", "-z"), LISTED_BYTES)
    flagged = _FLAGGED.findall(listed)
    if not flagged:
        return 0
    root = visit.repository.root
    there = await in_thread(partial(_select_plain_files, root, flagged), visit.repository.folder)
    if len(there) > MAX_COMPARED:
        return len(there)
    parts = [there[at : at + _AT_ONCE] for at in range(0, len(there), _AT_ONCE)]
    return sum([await _count_changed(inspector, visit, part) for part in parts])


async def _count_changed(
    inspector: RepositoryInspector, visit: ReadingContext, paths: Sequence[bytes]
) -> int:
    """Return the number of C{paths} whose content differs from the index."""
    entries = await inspector.run_git(visit, ("ls-files", "-s", "-z", "--", *paths), LISTED_BYTES)
    hashed = await inspector.run_git(visit, ("hash-object", "--", *paths), LISTED_BYTES)
    kept: dict[bytes, set[bytes]] = {}
    for entry in entries.split(b"\0")[:-1]:
        words, _, path = entry.partition(b"\t")
        kept.setdefault(path, set()).add(words.split(b" ")[1])
    pairs = zip(paths, hashed.split(), strict=True)
    return sum(found not in kept.get(path, ()) for path, found in pairs)


def _select_plain_files(root: bytes, paths: Sequence[bytes]) -> list[bytes]:
    """Return those C{paths} that exist as plain files in the working tree."""
    return [path for path in paths if _is_plain(os.path.join(root, path))]


def _is_plain(path: bytes) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
