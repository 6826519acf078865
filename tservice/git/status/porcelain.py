"""Incremental parser of C{git status --porcelain=v2 -z --branch --show-stash}.

Memory use is bounded for any number of changed files.  The parser keeps counts, and the first
L{MAX_FILES<tservice.git.model.MAX_FILES>} rows of each kind.
"""

from __future__ import annotations

from attrs import evolve

from tservice.git.model import (
    MAX_FILES,
    BranchHead,
    ChangeCounts,
    ChangeKind,
    FileChange,
    WorkTree,
    to_display_text,
)

RECORD_LIMIT = 64 * 1024
"""Maximum bytes of one record, which may hold two paths of 4096 bytes."""
REMOVED_LIMIT = 500_000
"""Maximum number of paths remembered because they left the index.

These files may still exist, untracked, in the working tree.
"""

_ORDINARY_FIELDS = 8
_RENAME_FIELDS = 9
_UNMERGED_FIELDS = 10


class GitOutputError(Exception):
    """Git's output does not have the expected format."""


class StatusParser:
    """Parser of a status in pieces of any size.  L{finish_input} returns the result.

    @param limit: maximum number of changes of each kind, and in all.
    """

    def __init__(self, limit: int = MAX_FILES) -> None:
        self._limit = limit
        self._rest = b""
        self._head = BranchHead()
        self._rename: bytes | None = None
        self._files: dict[ChangeKind, list[FileChange]] = {kind: [] for kind in ChangeKind}
        self._totals = dict.fromkeys(ChangeKind, 0)
        self._stashes = 0
        self._paths = 0
        self._removed: set[bytes] = set()

    def feed_bytes(self, data: bytes) -> None:
        """Parse the next piece.

        @raise GitOutputError: a record has an unknown form, or is longer than L{RECORD_LIMIT}.
        """
        *records, self._rest = (self._rest + data).split(b"\0")
        for record in records:
            self._parse_record(record)
        if len(self._rest) > RECORD_LIMIT:
            raise GitOutputError("a record is too long")

    def finish_input(self) -> WorkTree:
        """Return the parsed status.

        @raise GitOutputError: the output ends in the middle of a record.
        """
        if self._rest or self._rename is not None:
            raise GitOutputError("the last record is incomplete")
        files = [change for kind in ChangeKind for change in self._files[kind]]
        counts = ChangeCounts(
            staged=self._totals[ChangeKind.STAGED],
            unstaged=self._totals[ChangeKind.UNSTAGED],
            untracked=self._totals[ChangeKind.UNTRACKED],
            conflicted=self._totals[ChangeKind.CONFLICTED],
            uncommitted=self._paths,
            stashes=self._stashes,
        )
        return WorkTree(
            head=self._head,
            counts=counts,
            files=tuple(files[: self._limit]),
            truncated=sum(self._totals.values()) > self._limit,
        )

    def _parse_record(self, record: bytes) -> None:
        if self._rename is not None:
            renamed, self._rename = self._rename, None
            self._parse_tracked(renamed, _RENAME_FIELDS, original=record)
            return
        mark = record[:2]
        if mark == b"1 ":
            self._parse_tracked(record, _ORDINARY_FIELDS)
        elif mark == b"2 ":
            self._rename = record
        elif mark == b"u ":
            self._parse_unmerged(record)
        elif mark == b"? ":
            self._parse_untracked(record[2:])
        elif mark == b"# ":
            self._parse_header(record[2:])
        else:
            raise GitOutputError("a record has an unknown form")

    def _parse_tracked(self, record: bytes, fields: int, original: bytes | None = None) -> None:
        letters, path = _split_record(record, fields)
        self._paths += 1
        if letters == "D." and len(self._removed) < REMOVED_LIMIT:
            self._removed.add(path)
        if letters[0] != ".":
            self._add_change(path, ChangeKind.STAGED, letters, original)
        if letters[1] != ".":
            self._add_change(path, ChangeKind.UNSTAGED, letters, original)

    def _parse_unmerged(self, record: bytes) -> None:
        letters, path = _split_record(record, _UNMERGED_FIELDS)
        self._paths += 1
        self._add_change(path, ChangeKind.CONFLICTED, letters)

    def _parse_untracked(self, path: bytes) -> None:
        if path not in self._removed:
            self._paths += 1
        self._add_change(path, ChangeKind.UNTRACKED, "??")

    def _add_change(
        self, path: bytes, kind: ChangeKind, letters: str, original: bytes | None = None
    ) -> None:
        self._totals[kind] += 1
        if len(self._files[kind]) < self._limit:
            change = FileChange(
                path=path, kind=kind, index=letters[0], worktree=letters[1], original=original
            )
            self._files[kind].append(change)

    def _parse_header(self, text: bytes) -> None:
        name, _, value = text.partition(b" ")
        if name == b"stash":
            self._stashes = _parse_number(value)
        elif name.startswith(b"branch."):
            self._head = _update_head(self._head, name[7:], value)


def _update_head(head: BranchHead, name: bytes, value: bytes) -> BranchHead:
    if name == b"oid":
        unborn = value == b"(initial)"
        return evolve(head, unborn=unborn, commit=None if unborn else to_display_text(value))
    if name == b"head":
        detached = value == b"(detached)"
        return evolve(head, detached=detached, branch=None if detached else to_display_text(value))
    if name == b"upstream":
        return evolve(head, upstream=to_display_text(value))
    if name == b"ab":
        ahead, _, behind = value.partition(b" ")
        return evolve(head, ahead=_parse_number(ahead[1:]), behind=_parse_number(behind[1:]))
    return head  # headers of later versions of git are ignored


def _split_record(record: bytes, fields: int) -> tuple[str, bytes]:
    """Return the two status letters and the path of a record.

    @param fields: number of fields that precede the path.
    """
    words = record.split(b" ", fields)
    if len(words) != fields + 1 or len(words[1]) != 2 or not words[fields]:
        raise GitOutputError("a record lacks fields")
    return words[1].decode("ascii", "replace"), words[fields]


def _parse_number(text: bytes) -> int:
    if not text.isdigit():
        raise GitOutputError("a number was expected")
    return int(text)
