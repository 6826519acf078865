"""The changes that the service reads, compared with what git says by other commands.

Git lists the changes from an index to which everything was added.  The rows of each hunk must make
the file from the one in the base, and reversing them must make the base's file again.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.unit.git.random_repositories import ENVIRON, run_git
from tests.unit.review.review_harness import SESSION_ID, ReviewWorld
from tservice.git.interfaces import WorkingCopy
from tservice.review.comparison.changes import DiffOptions, read_hunks
from tservice.review.comparison.hunk_reversal import reverse_rows
from tservice.review.comparison.hunks import Hunk, RowKind
from tservice.review.model import WHOLE_CONTEXT, ChangedFile, FileStatus, RepositoryChanges

LETTERS = {
    FileStatus.ADDED: "A",
    FileStatus.MODIFIED: "M",
    FileStatus.DELETED: "D",
    FileStatus.TYPE_CHANGED: "T",
    FileStatus.CONFLICTED: "M",
    FileStatus.RENAMED: "A",
}
Listed = dict[bytes, tuple[str, bytes, bytes]]
"""Letter, added and removed lines by path; C{-} for the lines of a binary file."""


def list_by_git(root: Path, base: str) -> Listed:
    """Ask git for the changes, without renames."""
    index = root.parent / f"{root.name}.index"
    own = Path(os.fsdecode(run_git(root, "rev-parse", "--absolute-git-dir").strip())) / "index"
    if own.exists():
        shutil.copy(own, index)
    environ = {**ENVIRON, "GIT_INDEX_FILE": str(index)}

    def ask(*words: str) -> list[bytes]:
        command = ["git", "-C", str(root), *words]
        done = subprocess.run(command, env=environ, capture_output=True, check=True)
        return done.stdout.split(b"\0")

    try:
        ask("add", "-A")
        compared = ("diff-index", "--cached", "--no-renames", "-z", base, "--")
        listed = ask(*compared[:1], "--name-status", *compared[1:])
        counted = ask(*compared[:1], "--numstat", "--diff-algorithm=histogram", *compared[1:])
    finally:
        index.unlink(missing_ok=True)
    letters = dict(zip(listed[1::2], listed[::2], strict=False))
    found: Listed = {}
    for line in filter(None, counted):
        added, removed, path = line.split(b"\t", 2)
        found[path] = (letters[path].decode(), added, removed)
    return found


async def compare_with_git(world: ReviewWorld, root: Path, base: str, seed: int) -> list[str]:
    """Return one line for each difference between the service and git."""
    (changes,) = (await world.review.read_changes(SESSION_ID, base)).repositories
    copy = await world.copy()
    rng = random.Random(seed)
    faults = _compare_lists(list_by_git(root, base), changes)
    for file in changes.files:
        if not (file.is_submodule or file.is_binary or "repository" in file.kinds):
            context = rng.choice([0, 1, 3, 8, WHOLE_CONTEXT])
            faults += await _check_hunks(copy, root, changes, file, context)
    return [f"seed {seed}: {fault}" for fault in faults]


def _compare_lists(wanted: Listed, changes: RepositoryChanges) -> list[str]:
    found: dict[bytes, ChangedFile] = {}
    removed: set[bytes] = set()
    for file in changes.files:
        found[file.path] = file
        if file.original is not None:
            removed.add(file.original)
    faults = [f"{path!r} is missing" for path in wanted.keys() - found.keys() - removed]
    for path, file in found.items():
        if path not in wanted:
            # Only git's index differs from the base: the file itself is the same.
            if not {"staged", "conflicted", "committed"} & {*file.kinds}:
                faults.append(f"{path!r} is listed, and did not change: {file}")
            continue
        letter, added, gone = wanted[path]
        if letter != LETTERS[file.status]:
            faults.append(f"{path!r}: {letter} is {file.status}")
        if file.original is None and file.status is not FileStatus.CONFLICTED:
            numbers = (b"-", b"-") if file.is_binary else (b"%d" % file.added, b"%d" % file.removed)
            if numbers != (added, gone) and "untracked" not in file.kinds:
                faults.append(f"{path!r}: {added!r} {gone!r} are {numbers}")
    return faults


async def _check_hunks(
    copy: WorkingCopy, root: Path, changes: RepositoryChanges, file: ChangedFile, context: int
) -> list[str]:
    if file.status is FileStatus.TYPE_CHANGED:
        return []
    old = b"" if file.old_blob is None else run_git(root, "cat-file", "blob", file.old_blob)
    new = _read_now(root, file.path)
    options = DiffOptions(context=context)
    hunks, cut = await read_hunks(copy, changes.base, file, options)
    faults = [f"{file.path!r} is cut"] if cut else []
    if rebuild_new(old, hunks) != (new or b""):
        faults.append(f"{file.path!r}: the hunks do not make the file")
    if hunks and new is not None and reverse_rows(new, hunks, lambda hunk, row: True) != old:
        faults.append(f"{file.path!r}: the reversed hunks do not make the base's file")
    if file.status is not FileStatus.CONFLICTED and "untracked" not in file.kinds:
        kinds = [row.kind for hunk in hunks for row in hunk.rows]
        numbers = (kinds.count(RowKind.ADDED), kinds.count(RowKind.REMOVED))
        if numbers != (file.added, file.removed):
            faults.append(f"{file.path!r}: {numbers} rows, counted as {file.added, file.removed}")
    if len({hunk.id for hunk in hunks}) != len(hunks):
        faults.append(f"{file.path!r}: two hunks have one name")
    return faults


def rebuild_new(old: bytes, hunks: Sequence[Hunk]) -> bytes:
    """Return the new file that hunks make of the old one."""
    lines = old.split(b"\n")
    last = lines.pop()
    olds = [line + b"\n" for line in lines] + ([last] if last else [])
    found: list[bytes] = []
    at = 0
    for hunk in hunks:
        start = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        found += olds[at:start]
        at = start + hunk.old_count
        for row in hunk.rows:
            if row.kind is not RowKind.REMOVED:
                found.append(row.raw + (b"" if row.lacks_newline else b"\n"))
    return b"".join([*found, *olds[at:]])


def _read_now(root: Path, path: bytes) -> bytes | None:
    full = os.path.join(os.fsencode(root), path)
    if os.path.islink(full):
        return os.readlink(full)
    try:
        with open(full, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
