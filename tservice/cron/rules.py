"""Checks of a job, made when it is saved, and again when it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from attrs import evolve, frozen

from tservice.cases.interfaces import ResolvedCase
from tservice.clis.interfaces import CliKind, ICliRegistry
from tservice.core.callers.identity import Identity
from tservice.core.disk.kernel_paths import KERNEL_FOLDERS
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_field_error
from tservice.core.locations.location import LocationKind
from tservice.core.workers.worker_pool import IThreads
from tservice.cron.model import JobDefinition, PromptMode, normalize_prompt_path

SYSTEM = ("/etc", *KERNEL_FOLDERS)
"""System folders that are refused, including everything in them (protocol-cron-job)."""
FORBIDDEN_FOLDERS = ("/", "/root")
"""Folders that are refused themselves; folders in them are allowed."""


@frozen(kw_only=True)
class JobRules:
    """Checks of jobs that need access to files and other features.

    @ivar folder: returns the path of a working directory in normal form; raises a 400 or 403 if the
        folder is missing or the user may not work there.
    @ivar case: returns an existing case; raises a 400, 404 or 409 if there is none.
    @ivar files: worker pool for work on users' folders.
    @ivar data_dir: the service's data folder.  It is refused, except for C{cases_dir} if that is
        inside.
    """

    clis: ICliRegistry
    folder: Callable[[str, Identity], Awaitable[str]]
    case: Callable[[str, Identity], Awaitable[ResolvedCase]]
    files: IThreads
    data_dir: Path
    cases_dir: Path

    def is_shell(self, mode: str) -> bool:
        """Return true if the CLI of that mode is a plain shell."""
        entry = self.clis.get_entry(mode)
        return entry is not None and entry.kind is CliKind.SHELL

    def require_mode(self, mode: str) -> None:
        """Fail if sessions of that mode cannot be started.

        @raise ServiceError: 400: there is no such mode, or it is disabled.
        """
        entry = self.clis.get_entry(mode)
        if entry is None or not entry.enabled:
            known = ", ".join(one.id for one in self.clis.list_entries() if one.enabled)
            raise make_field_error("agentType", f"must be one of {known}")

    async def check_definition(self, definition: JobDefinition, owner: Identity) -> JobDefinition:
        """Check a definition and return it with its paths in normal form.

        @raise ServiceError: 400 for the field that is not valid; 403: the owner may not run it;
            422: the folder is not reachable.
        """
        self.require_mode(definition.agent_type)
        self.check_grant(definition, owner)
        if definition.case_name is not None:
            return await self._check_case(definition, definition.case_name, owner)
        folder = await self.folder(definition.working_dir, owner)
        check = partial(self._check_working_folder, Path(folder))
        await self.files.run(check, at=folder, owner=owner.username)
        return normalize_prompt_path(evolve(definition, working_dir=folder))

    async def _check_case(
        self, definition: JobDefinition, name: str, owner: Identity
    ) -> JobDefinition:
        case = await self.case(name, owner)
        found = normalize_prompt_path(
            evolve(definition, case_name=case.name, working_dir=case.path)
        )
        if case.place is not None and case.place.kind is LocationKind.REMOTE:
            if found.prompt_mode is PromptMode.FILE:
                raise make_field_error(
                    "promptMode", "must not be a file for a case on another machine"
                )
            return found
        check = partial(self._check_working_folder, Path(case.path))
        await self.files.run(check, at=case.path, owner=owner.username)
        return found

    def check_grant(self, definition: JobDefinition, owner: Identity) -> None:
        """Fail if the owner may not run this definition.

        @raise ServiceError: 403: the definition needs a grant that the owner lacks.
        """
        mode = definition.agent_type
        entry = self.clis.get_enabled_entry(mode)
        gated = entry.capabilities.privileged_command_gate or definition.launch_command
        if gated and not owner.can_bypass_permissions:
            what = "launchCommand" if definition.launch_command else f"agentType {mode}"
            raise ServiceError(ErrorCode.FORBIDDEN, f"{what} needs the grant to bypass permissions")
        granted = owner.can_bypass_permissions
        self.clis.check_prompt(mode, definition.prompt_text or "", "promptText", granted=granted)

    def _check_working_folder(self, folder: Path) -> None:
        place, cases = folder.resolve(), self.cases_dir.resolve()
        data = self.data_dir.resolve()
        own = place.is_relative_to(data) and not (place.is_relative_to(cases) and cases != data)
        system = any(place.is_relative_to(other) for other in SYSTEM)
        if own or system or str(place) in FORBIDDEN_FOLDERS:
            raise make_field_error("workingDir", f"must not be {place}")
