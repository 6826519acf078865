"""Putting files, hunks or lines back to the base, with a copy for undoing
(protocol-review-revert).
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from functools import partial

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_conflict_error,
    make_failure_error,
    make_not_found_error,
)
from tservice.git.interfaces import NO_FILE, WorkingCopy, WorkingFile, hash_blob
from tservice.review.comparison.changes import DiffOptions, read_hunks
from tservice.review.comparison.hunk_reversal import reverse_rows
from tservice.review.comparison.hunks import DiffRow, Hunk
from tservice.review.model import ChangedFile, FileStatus
from tservice.review.service import OpenedFile, ReviewService
from tservice.review.store import FileCopy, ReviewStore
from tservice.sessions.interfaces import ISessions, SessionStatus

REVERT_BYTES = 4 * 1024 * 1024
"""Maximum bytes of a file that can be reverted, because its copy is kept in the database."""
_ATTRIBUTE_BYTES = 64 * 1024
_CONFIGURES = (
    "path: this file configures git or an agent, which could run commands by it; it needs the grant"
    " to bypass permissions"
)


@frozen(kw_only=True)
class LineRange:
    """Lines of one side of a comparison, both ends included."""

    is_old: bool
    first: int
    last: int

    def contains(self, row: DiffRow) -> bool:
        """Return true if the row is one of these lines."""
        number = row.old if self.is_old else row.new
        return number is not None and self.first <= number <= self.last


@frozen(kw_only=True)
class RevertRequest:
    """Request to put a file, or parts of it, back.

    @ivar hunk_ids: hunks to put back; C{None} for no choice by hunks.
    @ivar lines: changed lines to put back; C{None} for no choice by lines.
    @ivar hash: hash of the file that the caller looked at.
    @ivar context: context of the hunks that the caller looked at.
    @ivar even_while_busy: true to do it while the agent works.
    """

    repo: str | None
    path: str
    base: str | None
    hash: str
    hunk_ids: frozenset[str] | None = None
    lines: Sequence[LineRange] | None = None
    context: int = 3
    even_while_busy: bool = False

    @property
    def is_whole(self) -> bool:
        """True if the whole file is put back."""
        return self.hunk_ids is None and self.lines is None

    def chooses(self, hunk: Hunk, row: DiffRow) -> bool:
        """Return true if a row is to be put back."""
        by_hunk = self.hunk_ids is not None and hunk.id in self.hunk_ids
        return by_hunk or any(each.contains(row) for each in self.lines or ())


@frozen(kw_only=True)
class FileReplacement:
    """Step of a revert."""

    path: bytes
    expected: str
    new: WorkingFile


@frozen(kw_only=True)
class RevertOutcome:
    """Result of a revert.

    @ivar undo_ids: ids of the kept copies, in the order of the steps.
    @ivar hash: hash of the file now.
    """

    undo_ids: Sequence[str]
    hash: str


class RevertService:
    """Reverts files in working trees, and undoes that.  Every error is a C{ServiceError}."""

    def __init__(
        self,
        *,
        clock: IReactorTime,
        review: ReviewService,
        store: ReviewStore,
        sessions: ISessions,
        make_id: Callable[[], str],
        can_run_commands: Callable[[str], bool],
    ) -> None:
        """@param can_run_commands: returns true if a file at this path can make git or an agent run
        a command.
        """
        self._clock, self._review, self._store, self._sessions = clock, review, store, sessions
        self._make_id, self._can_run_commands = make_id, can_run_commands

    async def revert_file(
        self, session_id: str, wanted: RevertRequest, caller: Caller,
    ) -> RevertOutcome:  # fmt: skip
        """Put a file or parts of it back to the base, if it still has the hash.

        Only the working tree changes.  What was there is kept for undoing.

        @raise ServiceError: 409 if the file changed, or the agent works; 403 without the grant for
            a file that configures git or an agent; 422 for what cannot be put back.
        """
        self._check_idle(session_id, even_while_busy=wanted.even_while_busy)
        opened = await self._review.open_file(session_id, wanted.repo, wanted.path, wanted.base)
        self._check_grant(session_id, opened.copy, opened.file, caller)
        steps = await self._plan_steps(opened, wanted)
        return await self._apply_steps(session_id, opened.copy, steps, caller)

    async def undo_revert(
        self,
        session_id: str,
        undo_id: str,
        caller: Caller,
    ) -> RevertOutcome:
        """Bring back the file that a revert replaced, if it did not change since.

        @raise ServiceError: 404 if the copy was dropped; 409 if the file changed since.
        """
        kept = self._store.find_copy(session_id, undo_id)
        if kept is None:
            raise make_not_found_error("Copy")
        copy = await self._review.open_copy(session_id, kept.repo)
        file = ChangedFile(path=kept.path, status=FileStatus.MODIFIED)
        self._check_grant(session_id, copy, file, caller)
        self._check_caller(session_id, caller)
        data = kept.content if kept.mode else None
        await copy.replace_file(kept.path, kept.hash, WorkingFile(mode=kept.mode, data=data))
        self._store.delete_copy(undo_id)
        now = hash_blob(kept.content) if kept.mode else NO_FILE
        return RevertOutcome(undo_ids=(), hash=now)

    def _check_idle(self, session_id: str, *, even_while_busy: bool) -> None:
        busy = self._sessions.get(session_id).status is SessionStatus.BUSY
        if busy and not even_while_busy:
            text = "the agent is working on these files: wait, or pass evenWhileBusy"
            raise ServiceError(ErrorCode.SESSION_BUSY, text)

    def _check_caller(
        self,
        session_id: str,
        caller: Caller,
    ) -> None:
        caller.reauthorize()
        self._sessions.check_sender(session_id, caller)

    def _check_grant(
        self, session_id: str, copy: WorkingCopy, file: ChangedFile, caller: Identity
    ) -> None:
        if caller.can_bypass_permissions:
            return
        top = posixpath.join(self._sessions.get(session_id).working_dir, copy.path)
        paths = (
            posixpath.join(top, name.decode("utf-8", "replace"))
            for name in (file.path, file.base_path)
        )
        if any(self._can_run_commands(posixpath.normpath(path)) for path in paths):
            raise ServiceError(ErrorCode.FORBIDDEN, _CONFIGURES)

    async def _plan_steps(self, opened: OpenedFile, wanted: RevertRequest) -> list[FileReplacement]:
        file, copy = opened.file, opened.copy
        if file.is_submodule or "repository" in file.kinds:
            raise make_failure_error("path: a repository in the repository is reverted there")
        if file.status is FileStatus.CONFLICTED:
            raise make_failure_error("path: resolve the conflict first")
        if await _has_filter(copy, file):
            raise make_failure_error("path: the file has a filter such as Git LFS: use git")
        (now,) = await copy.read_files([file.path], REVERT_BYTES)
        if now.hash != wanted.hash:
            raise make_conflict_error("hash: the file was changed since you looked at it")
        if now.exists and now.data is None:
            raise make_failure_error(f"path: files of {REVERT_BYTES} bytes at most can be reverted")
        if not wanted.is_whole:
            new = await self._reverse_parts(opened, wanted, now)
            if new is not None:
                return [FileReplacement(path=file.path, expected=now.hash, new=new)]
        return await self._plan_whole_file(copy, file, now)

    async def _reverse_parts(
        self, opened: OpenedFile, wanted: RevertRequest, now: WorkingFile
    ) -> WorkingFile | None:
        """Return the file without the chosen changes; C{None} if that is the file of the base."""
        if opened.file.is_binary or now.is_binary:
            raise make_failure_error("path: a binary file can only be reverted as a whole")
        options = DiffOptions(context=wanted.context)
        hunks, cut = await read_hunks(opened.copy, opened.changes.base, opened.file, options)
        if cut:
            raise make_failure_error("path: the difference is too large")
        is_all = all(wanted.chooses(hunk, row) for hunk in hunks for row in hunk.changed_rows)
        if is_all and hunks:
            return None
        if not now.exists:
            raise make_failure_error("path: a deleted file can only be reverted as a whole")
        reverse = partial(reverse_rows, now.data or b"", hunks, wanted.chooses)
        data = await opened.copy.run_in_thread(reverse)
        return WorkingFile(mode=now.mode, data=data)

    async def _plan_whole_file(
        self, copy: WorkingCopy, file: ChangedFile, now: WorkingFile
    ) -> list[FileReplacement]:
        before = WorkingFile()
        if file.old_blob is not None:
            data = await _read_base_file(copy, file, file.old_blob)
            before = WorkingFile(mode=file.old_mode, data=data)
        if file.original is None:
            return [FileReplacement(path=file.path, expected=now.hash, new=before)]
        return [
            FileReplacement(path=file.original, expected=NO_FILE, new=before),
            FileReplacement(path=file.path, expected=now.hash, new=WorkingFile()),
        ]

    async def _apply_steps(
        self, session_id: str, copy: WorkingCopy, steps: Sequence[FileReplacement],
        caller: Caller,
    ) -> RevertOutcome:  # fmt: skip
        undo_ids = []
        last = NO_FILE
        for step in steps:
            (before,) = await copy.read_files([step.path], REVERT_BYTES)
            if before.hash != step.expected:
                raise make_conflict_error("hash: the file was changed since you looked at it")
            self._check_caller(session_id, caller)
            last = hash_blob(step.new.data or b"") if step.new.exists else NO_FILE
            kept = FileCopy(
                id=self._make_id(), session_id=session_id, repo=copy.path, path=step.path,
                mode=before.mode, content=before.data or b"", hash=last,
                at=get_unix_ms(self._clock),
            )  # fmt: skip
            # The copy is on disk before the file is replaced.
            self._store.save_copy(kept)
            try:
                await copy.replace_file(step.path, step.expected, step.new)
            except ServiceError:
                self._store.delete_copy(kept.id)
                raise
            undo_ids.append(kept.id)
        return RevertOutcome(undo_ids=undo_ids, hash=last)


async def _has_filter(copy: WorkingCopy, file: ChangedFile) -> bool:
    words = ("check-attr", "-z", "filter", "--", file.path)
    output, _ = await copy.run_git(words, _ATTRIBUTE_BYTES)
    value = output.split(b"\0")[2:3]
    return value not in ([b"unspecified"], [b"unset"])


async def _read_base_file(copy: WorkingCopy, file: ChangedFile, blob: str) -> bytes:
    """Return the content of the base's file as a checkout would write it, with its line ends."""
    words: tuple[str | bytes, ...] = ("cat-file", "blob", blob)
    if file.old_mode != "120000":
        words = ("cat-file", "--filters", b"--path=" + file.base_path, blob)
    data, cut = await copy.run_git(words, REVERT_BYTES)
    if cut:
        raise make_failure_error(f"path: files of {REVERT_BYTES} bytes at most can be reverted")
    return data
