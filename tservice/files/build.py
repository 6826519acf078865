"""Construction of the files feature."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from tservice.audit.interfaces import AuditEntry, IAuditLog
from tservice.clis.capabilities import AttachmentForm
from tservice.clis.interfaces import ICliRegistry, is_agent_configuration
from tservice.files.bounds import DailyBytes
from tservice.files.carrying_routes import CarryingRoutes
from tservice.files.following import Followers
from tservice.files.links import CapabilityWords, Links
from tservice.files.model import DAY_BYTES, Workspace
from tservice.files.routes import FilesRoutes
from tservice.files.screenshot_routes import ScreenshotRoutes
from tservice.files.screenshots import Screenshots
from tservice.files.service import FilesDependencies, FilesService, Shut
from tservice.files.sweeper import Sweeper
from tservice.files.watches import Watches
from tservice.files.workers import Workers
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.http.metrics import make_gauge
from tservice.http.operations import OperationCall
from tservice.sessions.interfaces import ISessions, Session

_GIT = ".git"
"""A repository, or the file that names one: its hooks and settings run commands."""


def build_files(
    ground: Ground,
    *,
    sessions: ISessions,
    clis: ICliRegistry,
    audit: IAuditLog,
    words: CapabilityWords,
) -> Feature[FilesService]:
    """Build the feature with its routes. Uploads are swept from the start on, and a stop ends
    followed files.

    @param words: tokens for addresses that a browser fetches by itself.
    """
    workers = Workers(ground.doors.files, ground.places, ground.bounds)
    quota = DailyBytes(ground.reactor, DAY_BYTES)
    kept = ground.config.data_dir / "screenshots"
    screenshots = Screenshots(kept, ground.reactor, workers, quota)
    files = FilesService(_parts(ground, workers, sessions, screenshots, quota))
    links, found = Links(words), _Found(sessions, clis, audit)
    routes = FilesRoutes(files, found.workspace, links, ground.reactor, found.revealed, found.runs)
    carrying = CarryingRoutes(files, found.workspace, found.of_caller, links, found.insert)
    return Feature(
        name="files",
        service=files,
        operations=[
            *routes.operations(),
            *carrying.operations(),
            *ScreenshotRoutes(screenshots).operations(),
        ],
        measures=[
            make_gauge("file_transfers", "Files on their way up or down.", lambda: files.transfers),
            make_gauge("file_tails", "Files that are followed.", lambda: files.followed),
        ],
        forget=screenshots.forget,
        start=lambda: files.start(ground.hub),
        close=files.stop,
    )


def _parts(
    ground: Ground,
    workers: Workers,
    sessions: ISessions,
    screenshots: Screenshots,
    quota: DailyBytes,
) -> FilesDependencies:
    clock, data = ground.reactor, ground.config.data_dir
    shut = Shut(data=data, cases=ground.config.cases_dir, bounds=ground.bounds)
    watches = Watches(clock)

    def present() -> Iterable[Workspace]:
        return map(workspace, sessions.list())

    return FilesDependencies(
        clock=clock,
        workers=workers,
        watches=watches,
        followers=Followers(clock, workers, watches, shut, lambda: ground.random(8).hex()),
        sweeper=Sweeper(clock, workers, data / "upload-folders.json", present, screenshots.sweep),
        closed=shut,
        quota=quota,
    )


@frozen
class _Found:
    """Queries to other features on behalf of the routes."""

    sessions: ISessions
    clis: ICliRegistry
    audit: IAuditLog

    def workspace(self, session_id: str) -> Workspace:
        return workspace(self.sessions.get(session_id))

    def of_caller(self, call: OperationCall, session_id: str) -> Workspace:
        return workspace(self.sessions.get(session_id, call.identity))

    def insert(self, session_id: str, path: str) -> dict[str, str]:
        """Return the text to type for a file, and its kind."""
        entry = self.clis.get_entry(self.sessions.get(session_id).mode)
        form = AttachmentForm.PATH if entry is None else entry.capabilities.attachment
        return {"insert": form.format_path(path), "attachment": form.value}

    def runs(self, path: str) -> bool:
        """Return whether a file at C{path} can configure git, or an agent, to run something."""
        sources = [
            source
            for entry in self.clis.list_entries()
            for source in entry.capabilities.folder_config or ()
        ]
        return _GIT in path.casefold().split("/") or is_agent_configuration(path, sources)

    def revealed(self, call: OperationCall, path: str) -> None:
        who = call.identity
        entry = AuditEntry(
            action="file.revealed",
            actor=who.username,
            method=who.method,
            address=call.address,
            target=call.id,
            detail={"path": path},
        )
        self.audit.record_entry(entry)


def workspace(session: Session) -> Workspace:
    """Return the workspace of a session."""
    return Workspace(
        session_id=session.id,
        folder=session.working_dir,
        place=session.place,
        owner=session.owner,
    )
