"""Files with checks: their state, their approval, and the checks that they give to a session."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from attrs import evolve
from twisted.internet.interfaces import IReactorTime

from tservice.cases.interfaces import ICases
from tservice.checks.launch import ChecksUnavailable
from tservice.checks.model import CaseChecks
from tservice.checks.repository_file.approval_store import FileApprovalStore
from tservice.checks.repository_file.file_model import (
    FILE_NAME,
    CheckFile,
    CheckFileContent,
    CheckFolder,
    FileApproval,
    FileState,
    InvalidCheckFile,
    judge_file,
)
from tservice.checks.repository_file.reading import CheckFileReader
from tservice.checks.service import check_may_save
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import make_conflict_error, make_failure_error
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.workers.thread_runners import RunForOwner
from tservice.sessions.interfaces import ISessions, Session


class CheckFileService:
    """Files with checks in the folders of sessions and cases.

    The commands that run are those of the approved text.  The file itself is only compared with it.
    """

    def __init__(
        self,
        *,
        clock: IReactorTime,
        store: FileApprovalStore,
        sessions: ISessions,
        cases: ICases,
        locations: LocationRegistry,
        reader: CheckFileReader,
        in_thread: RunForOwner,
        parse: Callable[[str], CheckFileContent],
    ) -> None:
        """@param parse: as for L{judge_file}."""
        self._clock, self._store, self._sessions = clock, store, sessions
        self._cases, self._locations, self._reader = cases, locations, reader
        self._in_thread, self._parse = in_thread, parse

    # -- folders

    async def find_case_folder(self, name: str, caller: Identity) -> CheckFolder:
        """Return the folder of a case.

        @raise ServiceError: 404: the caller has no such case.
        """
        if caller.sessions is not None:
            await self._cases.check_visible(name, caller)
        case = await self._cases.resolve_case(name, caller)
        location_id = case.place
        if location_id is None:
            await self._locations.refresh_location(caller.location_id)
            location_id = self._locations.get_caller_location(caller).id
        path = case.path
        if path == "~" or path.startswith("~/"):
            # So that it is the folder in which the sessions of a remote case work.
            await self._locations.refresh_if_reachable(location_id)
            path = str(self._locations.find_earlier_location(location_id).home / path[2:])
        owner = self._cases.get_owner_name(caller)
        return CheckFolder(owner=owner, location_id=location_id, path=path)

    def find_session_folder(self, session_id: str) -> CheckFolder:
        """Return the folder of a session.

        @raise ServiceError: 404: there is no such session.
        """
        return _get_folder(self._sessions.get(session_id))

    # -- files

    async def read_file(self, folder: CheckFolder) -> CheckFile:
        """Return a folder's file, compared with what was approved.

        @raise ServiceError: 422: the folder cannot be read.
        """
        approval = self._store.find_approval(folder)
        try:
            data = await self._reader.read_file(folder)
        except InvalidCheckFile as error:
            return CheckFile(state=FileState.INVALID, problem=str(error), approval=approval)
        judge = partial(judge_file, data, approval, self._parse)
        return await self._in_thread(judge, "/", folder.owner)

    async def approve_file(self, folder: CheckFolder, wanted: str, caller: Caller) -> CheckFile:
        """Approve the content of a folder's file.

        @param wanted: hash of the content that the caller has seen.
        @raise ServiceError: 403: the caller may not run commands; 409: the file has another
            content; 422: it is invalid or cannot be read.
        """
        check_may_save(caller)
        found = await self.read_file(folder)
        caller.reauthorize()
        if found.content is None and found.problem is not None:
            raise make_failure_error(f"{FILE_NAME}: {found.problem}")
        if found.content is None or found.hash != wanted:
            raise make_conflict_error("hash: the file was changed since you looked at it")
        approval = FileApproval(
            hash=found.hash, text=found.text, content=found.content,
            approved_at=get_unix_ms(self._clock), approved_by=caller.username,
        )  # fmt: skip
        self._store.save_approval(folder, approval)
        return evolve(found, state=FileState.APPROVED, approval=approval, diff="")

    def withdraw_approval(self, folder: CheckFolder, caller: Caller) -> None:
        """Let the checks of a folder's file count no more.

        @raise ServiceError: 403: the caller may not run commands.
        """
        check_may_save(caller)
        self._store.delete_approval(folder)

    # -- sessions

    def find_session_checks(self, session: Session) -> CaseChecks | None:
        """Return the checks that were approved for a session's folder.

        Whether the file still has that content is found by L{check_unchanged}, before they run.
        """
        folder = _get_folder(session)
        approval = self._store.find_approval(folder)
        if approval is None or not approval.content.checks:
            return None
        content = approval.content
        return CaseChecks(
            owner=folder.owner or "", case_name=session.case_name or "", path=folder.path,
            checks=content.checks, on_failure=content.on_failure,
            max_attempts=content.max_attempts, file_hash=approval.hash,
        )  # fmt: skip

    async def check_unchanged(self, session: Session, checks: CaseChecks) -> None:
        """Check that a session's file has the content of which C{checks} were approved.

        @raise ChecksUnavailable: it has another one, is gone, or is not approved any more.
        @raise ServiceError: the folder cannot be read.
        """
        found = await self.read_file(_get_folder(session))
        if found.state is not FileState.APPROVED or found.hash != checks.file_hash:
            raise ChecksUnavailable(_REASONS.get(found.state, _CHANGED))

    def delete_unknown_owners(self, exists: Callable[[str], bool]) -> None:
        """Delete the approvals of accounts that no longer exist."""
        self._store.delete_unknown_owners(exists)


_CHANGED = f"{FILE_NAME} was changed: its checks run again when you approve it"
_REASONS = {
    FileState.NONE: f"{FILE_NAME}, of which the checks were approved, is gone",
    FileState.INVALID: f"{FILE_NAME} was changed and is invalid now",
}


def _get_folder(session: Session) -> CheckFolder:
    return CheckFolder(
        owner=session.owner, location_id=session.location_id, path=session.working_dir
    )
