"""Commits and pushes as a person's own action (protocol-review-commit).

Unlike all reading, these run the user's git with its hooks, identity and signing.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_failure_error,
    make_field_error,
    make_not_found_error,
)
from tservice.git.interfaces import IUserGit, UserGitResult, WorkingCopy
from tservice.review.comment_model import check_comment_text
from tservice.review.comparison.bases import read_head_commit
from tservice.review.model import RepositoryChanges, check_ref_name
from tservice.review.service import ReviewService
from tservice.sessions.interfaces import ISessions, NameSource

SUBJECT_LENGTH = 72
"""Maximum characters of the first line of a suggested message."""
LISTED_FILES = 10
"""Maximum number of files that a suggested message lists."""
_NEEDS_GRANT = (
    "{}: git runs the hooks and programs that the repository configures, which needs the grant to"
    " bypass permissions"
)


@frozen(kw_only=True)
class CommitRequest:
    """Request for a commit.

    @ivar paths: files to commit, as the list of changes has them; C{None} for what is staged.
    @ivar takes_all: true to commit all changed and new files.
    """

    repo: str | None
    message: str
    paths: Sequence[str] | None = None
    takes_all: bool = False
    amend: bool = False
    signoff: bool = False


@frozen(kw_only=True)
class PushRequest:
    """Request for a push.

    @ivar branch: name of the branch at the remote; C{None} for that of the current branch.
    @ivar with_lease: true to replace the branch, unless another push came since the last fetch.
    """

    repo: str | None
    remote: str | None = None
    branch: str | None = None
    sets_upstream: bool = False
    with_lease: bool = False


class CommitService:
    """Commits and pushes in the workspaces of sessions.  Every error is a C{ServiceError}."""

    def __init__(self, review: ReviewService, sessions: ISessions, git: IUserGit) -> None:
        self._review, self._sessions, self._git = review, sessions, git

    async def commit(
        self, session_id: str, wanted: CommitRequest, caller: Caller,
    ) -> tuple[str | None, str]:  # fmt: skip
        """Commit files, and return the new commit and the output of git and its hooks.

        @raise ServiceError: 403 without the grant; 404 for a path that did not change; 422 if git
            or a hook refuses.
        """
        check_comment_text(wanted.message, "message")
        self._check_grant(caller, "message")
        copy = await self._review.open_copy(session_id, wanted.repo)
        committer = self._make_committer(session_id, caller)
        paths = await self._find_paths(session_id, copy, wanted)
        if wanted.takes_all:
            await self._run(session_id, copy, ["add", "--all"], b"", committer)
        elif paths:
            await self._run(session_id, copy, ["add", "--all", "--", *paths], b"", committer)
        options = [
            *(["--amend"] if wanted.amend else []),
            *(["--signoff"] if wanted.signoff else []),
            *(["--only"] if paths else []),
        ]
        words: list[str | bytes] = ["commit", "--file=-", *options]
        if paths:
            words += ["--", *paths]
        done = await self._run(session_id, copy, words, wanted.message.encode(), committer)
        return await read_head_commit(copy), done.output

    async def push(
        self, session_id: str, wanted: PushRequest, caller: Caller,
    ) -> str:  # fmt: skip
        """Push the current commit, and return the output of git and its hooks.

        @raise ServiceError: 400 for an odd name; 403 without the grant; 422 if git, a hook or the
            remote refuses.
        """
        self._check_grant(caller, "remote")
        for named, name in (("remote", wanted.remote), ("branch", wanted.branch)):
            if name is not None:
                check_ref_name(name, named)
        if wanted.branch is not None and wanted.remote is None:
            raise make_field_error("remote", "is required with branch")
        copy = await self._review.open_copy(session_id, wanted.repo)
        options = [
            *(["--set-upstream"] if wanted.sets_upstream else []),
            *(["--force-with-lease"] if wanted.with_lease else []),
        ]
        target = f"HEAD:refs/heads/{wanted.branch}" if wanted.branch else "HEAD"
        where = [] if wanted.remote is None else [wanted.remote, target]
        if wanted.remote is None and wanted.sets_upstream:
            where = ["origin", target]
        committer = self._make_committer(session_id, caller)
        words = ["push", "--porcelain", *options, "--", *where]
        return (await self._run(session_id, copy, words, b"", committer)).output

    async def suggest_message(self, session_id: str, repo: str | None) -> str:
        """Return a message made of the session's name, which comes from its first prompt, and of
        the changed files.
        """
        changes = await self._review.read_changes(session_id)
        found = [each for each in changes.repositories if repo is None or each.path == repo]
        if not found:
            raise make_not_found_error("Repository")
        session = self._sessions.get(session_id)
        named = session.name_source is not NameSource.PLACEHOLDER
        return compose_message(session.name if named else "", found[0])

    async def _find_paths(
        self, session_id: str, copy: WorkingCopy, wanted: CommitRequest
    ) -> list[bytes]:
        if wanted.paths is None or wanted.takes_all:
            return []
        changes = await self._review.read_changes(session_id, "HEAD")
        files = {
            file.display_path: file
            for each in changes.repositories
            if each.path == copy.path
            for file in each.files
        }
        if any(path not in files for path in wanted.paths):
            raise make_not_found_error("File")
        chosen = [files[path] for path in wanted.paths]
        return [each for file in chosen for each in {file.path, file.base_path}]

    async def _run(
        self, session_id: str, copy: WorkingCopy, words: Sequence[str | bytes], stdin: bytes,
        committer: Caller,
    ) -> UserGitResult:  # fmt: skip
        done = await self._git.run_user_git(session_id, copy.path, words, stdin, committer)
        if not done.succeeded:
            raise make_failure_error(done.output[-2000:] or f"git {words[0]!r} failed")
        return done

    def _make_committer(self, session_id: str, caller: Caller) -> Caller:
        """Return the caller, whose authority ends with the right to type into the session too."""

        def check_rights() -> None:
            caller.reauthorize()
            self._sessions.check_sender(session_id, caller)

        return Caller.from_identity(caller, check_rights)

    def _check_grant(self, caller: Identity, named: str) -> None:
        if not caller.can_bypass_permissions:
            raise ServiceError(ErrorCode.FORBIDDEN, _NEEDS_GRANT.format(named))


def compose_message(title: str, changes: RepositoryChanges) -> str:
    """Return a commit message: a subject, and the changed files."""
    names = [file.display_path for file in changes.files if "committed" not in file.kinds]
    names = names or [file.display_path for file in changes.files]
    subject = " ".join(title.split())
    if not subject:
        subject = f"Change {names[0]}" if len(names) == 1 else f"Change {len(names)} files"
    if len(subject) > SUBJECT_LENGTH:
        subject = subject[: SUBJECT_LENGTH - 3].rstrip() + "..."
    listed = [f"* {name}" for name in names[:LISTED_FILES]]
    more = len(names) - len(listed)
    if more > 0:
        listed.append(f"* and {more} more")
    return "\n".join([subject, "", *listed]) if len(names) > 1 else subject
