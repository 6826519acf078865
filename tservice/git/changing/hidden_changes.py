"""Changes that git is configured to ignore, so that no status shows them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from functools import partial

from tservice.core.workers.thread_runners import RunInThread
from tservice.git.inspector import ReadingContext, RepositoryInspector

MAX_COMPARED = 2000
"""Files compared; if there are more, each counts as changed."""
LISTED_BYTES = 256 * 1024 * 1024
"""Bytes that git may print of the names of all files."""

_AT_ONCE = 200
"""Files passed to one git process, on its command line."""
_FLAGGED = re.compile(rb"(?:^|\0)[a-zS] ([^\0]+)")
"""Entry of C{ls-files -v}: C{assume-unchanged} is a small letter, C{skip-worktree} an S."""


async def count_hidden_changes(
    inspector: RepositoryInspector, visit: ReadingContext, in_thread: RunInThread
) -> int:
    """Count files that differ and are marked C{assume-unchanged} or C{skip-worktree}.

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
    """Return how many of C{paths} differ from the index."""
    entries = await inspector.run_git(visit, ("ls-files", "-s", "-z", "--", *paths), LISTED_BYTES)
    hashed = await inspector.run_git(visit, ("hash-object", "--", *paths), LISTED_BYTES)
    kept: dict[bytes, set[bytes]] = {}
    for entry in entries.split(b"\0")[:-1]:
        words, _, path = entry.partition(b"\t")
        kept.setdefault(path, set()).add(words.split(b" ")[1])
    pairs = zip(paths, hashed.split(), strict=True)
    return sum(found not in kept.get(path, ()) for path, found in pairs)


def _select_plain_files(root: bytes, paths: Sequence[bytes]) -> list[bytes]:
    """Return those of C{paths} that are plain files in the working tree."""
    return [path for path in paths if _is_plain(os.path.join(root, path))]


def _is_plain(path: bytes) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
