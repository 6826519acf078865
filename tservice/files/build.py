"""Construction of the files feature."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from tservice.audit.interfaces import AuditEntry, IAuditLog
from tservice.clis.capabilities import AttachmentForm
from tservice.clis.interfaces import ICliRegistry, is_agent_configuration
from tservice.core.locations.folder_watches import FolderWatches
from tservice.files.file_links import CapabilityTokens, FileLinks
from tservice.files.model import DAY_BYTES, Workspace
from tservice.files.quotas import DailyUploadQuota
from tservice.files.reading.followers import FileFollowers
from tservice.files.routes import FilesRoutes
from tservice.files.screenshot_routes import ScreenshotRoutes
from tservice.files.screenshots import ScreenshotStore
from tservice.files.service import AccessRulesFactory, FilesDependencies, FilesService
from tservice.files.transfer_routes import TransferRoutes
from tservice.files.uploads.sweeper import UploadSweeper
from tservice.files.workers import WorkspaceWorkers
from tservice.http.metrics import make_gauge
from tservice.http.operation_decorator import collect_operations
from tservice.http.operations import OperationCall
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions, Session

_GIT = ".git"
"""Name of a repository, or of a file that points to one. Hooks and settings inside run commands."""


def build_files(
    ground: Runtime,
    *,
    sessions: ISessions,
    clis: ICliRegistry,
    audit: IAuditLog,
    words: CapabilityTokens,
) -> FeatureRegistration[FilesService]:
    """Build the feature with its routes. Starting it starts the removal of old uploads; stopping it
    ends the streams of followed files.

    @param words: issuer of the tokens in URLs that a browser requests without the page's key.
    """
    workers = WorkspaceWorkers(ground.worker_pools.files, ground.locations, ground.workspace_bounds)
    quota = DailyUploadQuota(ground.reactor, DAY_BYTES)
    kept = ground.config.data_dir / "screenshots"
    screenshots = ScreenshotStore(kept, ground.reactor, workers, quota)
    files = FilesService(_build_dependencies(ground, workers, sessions, screenshots, quota))
    links, found = FileLinks(words), _SessionQueries(sessions, clis, audit)
    routes = FilesRoutes(
        files,
        found.find_workspace,
        links,
        ground.reactor,
        found.record_reveal,
        found.can_run_commands,
    )
    carrying = TransferRoutes(
        files, found.find_workspace, found.find_for_caller, links, found.describe_insertion
    )
    return FeatureRegistration(
        name="files",
        service=files,
        operations=[
            *collect_operations(routes),
            *collect_operations(carrying),
            *collect_operations(ScreenshotRoutes(screenshots)),
        ],
        measures=[
            make_gauge(
                "file_transfers",
                "Running uploads and downloads of files.",
                lambda: files.transfer_count,
            ),
            make_gauge("file_tails", "Files that are followed.", lambda: files.stream_count),
        ],
        on_account_removed=screenshots.discard_accounts,
        start=lambda: files.start(ground.hub),
        close=files.stop,
    )


def _build_dependencies(
    ground: Runtime,
    workers: WorkspaceWorkers,
    sessions: ISessions,
    screenshots: ScreenshotStore,
    quota: DailyUploadQuota,
) -> FilesDependencies:
    clock, data = ground.reactor, ground.config.data_dir
    shut = AccessRulesFactory(
        data=data, cases=ground.config.cases_dir, bounds=ground.workspace_bounds
    )
    watches = FolderWatches(clock)

    def list_workspaces() -> Iterable[Workspace]:
        return map(get_workspace, sessions.list())

    return FilesDependencies(
        clock=clock,
        workers=workers,
        watches=watches,
        followers=FileFollowers(clock, workers, watches, shut, lambda: ground.random(8).hex()),
        sweeper=UploadSweeper(
            clock, workers, data / "upload-folders.json", list_workspaces, screenshots.remove_old
        ),
        closed=shut,
        quota=quota,
    )


@frozen
class _SessionQueries:
    """Queries to the sessions and CLI features that the file routes need."""

    sessions: ISessions
    clis: ICliRegistry
    audit: IAuditLog

    def find_workspace(self, session_id: str) -> Workspace:
        return get_workspace(self.sessions.get(session_id))

    def find_for_caller(self, call: OperationCall, session_id: str) -> Workspace:
        return get_workspace(self.sessions.get(session_id, call.caller))

    def describe_insertion(self, session_id: str, path: str) -> dict[str, str]:
        """Return the text to type for a file into the session's prompt, and the form of that
        text.
        """
        entry = self.clis.get_entry(self.sessions.get(session_id).mode)
        form = AttachmentForm.PATH if entry is None else entry.capabilities.attachment
        return {"insert": form.format_path(path), "attachment": form.value}

    def can_run_commands(self, path: str) -> bool:
        """Return true if a file at C{path} can make git or an agent run a command."""
        sources = [
            source
            for entry in self.clis.list_entries()
            for source in entry.capabilities.folder_config or ()
        ]
        return _GIT in path.casefold().split("/") or is_agent_configuration(path, sources)

    def record_reveal(self, call: OperationCall, path: str) -> None:
        who = call.caller
        entry = AuditEntry(
            action="file.revealed",
            actor=who.username,
            method=who.method,
            address=call.address,
            target=call.id,
            detail={"path": path},
        )
        self.audit.record_entry(entry)


def get_workspace(session: Session) -> Workspace:
    """Return the folder, location and owner of a session's files."""
    return Workspace(
        session_id=session.id,
        folder=session.working_dir,
        place=session.location_id,
        owner=session.owner,
    )
