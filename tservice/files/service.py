"""File operations for the routes (protocol-files, protocol-uploads)."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from attrs import field, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.callers.caller import Caller
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.locations.folder_watches import FolderWatches
from tservice.core.locations.workspace_bounds import WorkspaceBounds
from tservice.core.workers.concurrency_limit import ConcurrencyLimit
from tservice.files import writing
from tservice.files.confined_path import AccessRules, ConfinedFolder, FolderId, find_folder_ids
from tservice.files.model import (
    IMAGE_BYTES,
    IMAGES_A_MINUTE,
    TRANSFERS,
    UPLOAD_BYTES,
    UPLOAD_FILES,
    UPLOADS,
    Workspace,
)
from tservice.files.quotas import DailyUploadQuota, MinuteRateLimit, Read
from tservice.files.reading import file_tree, text_content
from tservice.files.reading.followers import FileFollowers, Message
from tservice.files.reading.open_files import Opened, open_path
from tservice.files.reading.tree_response import FileTreeAnswer, build_tree_response
from tservice.files.uploads.sweeper import UploadSweeper
from tservice.files.uploads.upload_forms import (
    StoredUpload,
    UploadReceiver,
    UploadRules,
    open_uploads_folder,
    parse_boundary,
)
from tservice.files.workers import FileResourceHolder, WorkspaceWorkers

IMAGE = UploadRules(field="image", most=1, size=IMAGE_BYTES, kind="paste", images=True)
FILES = UploadRules(field="file", most=UPLOAD_FILES, size=UPLOAD_BYTES, kind="upload")


@frozen(kw_only=True)
class AccessRulesFactory:
    """Factory of the access rules of a workspace.

    The rules deny the folder C{data} and everything below it, except C{cases}. They also deny
    everything outside the account's bounds.
    """

    data: Path
    cases: Path
    bounds: WorkspaceBounds

    def __call__(self, workspace: Workspace) -> AccessRules:
        """Return the current rules for a workspace.

        The folders are identified with the service's own rights, as an OS user may not see them.
        """
        within = self.cases.is_relative_to(self.data)
        free = find_folder_ids(self.cases) if within else frozenset[FolderId]()
        inside = self.bounds.get_folder_limit(workspace.owner, workspace.place)
        return AccessRules(find_folder_ids(self.data), free, inside)


@frozen(kw_only=True)
class FilesDependencies:
    """Dependencies of the file service.

    @ivar closed: returns the access rules of a workspace.
    @ivar quota: daily quota that all uploads share.
    """

    clock: IReactorTime
    workers: WorkspaceWorkers
    watches: FolderWatches
    followers: FileFollowers
    sweeper: UploadSweeper
    closed: Callable[[Workspace], AccessRules]
    quota: DailyUploadQuota
    transfers: ConcurrencyLimit = field(
        factory=lambda: ConcurrencyLimit(
            TRANSFERS, f"the session has {TRANSFERS} transfers under way already; try again later"
        )
    )


class FilesService:
    """File operations on workspaces, independent of HTTP and of session objects."""

    def __init__(self, deps: FilesDependencies) -> None:
        self._deps = deps
        self._unsubscribe: Callable[[], None] = lambda: None
        self._images = MinuteRateLimit(deps.clock, IMAGES_A_MINUTE, "images")

    @property
    def transfer_count(self) -> int:
        """Number of uploads and downloads under way."""
        return self._deps.transfers.count

    @property
    def stream_count(self) -> int:
        """Number of open streams of followed files."""
        return self._deps.followers.count

    async def get_tree(self, workspace: Workspace, wanted: file_tree.TreeRequest) -> FileTreeAnswer:
        """Return the body of the response to C{GET files}."""
        closed = self._deps.closed(workspace)
        worker = await self._deps.workers.get_worker(workspace)

        def list_tree_in_thread() -> FileTreeAnswer:
            return build_tree_response(file_tree.list_tree(workspace.folder, wanted, closed))

        return await worker.run_work(list_tree_in_thread)

    async def get_content(
        self, workspace: Workspace, wanted: text_content.TextRequest
    ) -> dict[str, Any]:
        """Return the body of the response to C{GET file-content}, without the field C{url}."""
        closed = self._deps.closed(workspace)
        worker = await self._deps.workers.get_worker(workspace)
        return await worker.run_work(
            lambda: text_content.describe_file(workspace.folder, wanted, closed)
        )

    async def save_content(
        self, workspace: Workspace, edit: writing.FileEdit, caller: Caller
    ) -> dict[str, Any]:
        """Save a file and return the body of the response to C{PUT file-content}.

        @param caller: authorized again after the wait for a worker. The daily quota of its account
            counts the saved bytes.
        @raise ServiceError: 422 if the quota is used up. Other errors are those of
            L{writing.save_edit}.
        """

        async def read() -> bytes:
            return edit.content

        closed = self._deps.closed(workspace)
        worker = await self._deps.workers.get_worker(workspace)
        caller.reauthorize()
        with self._deps.quota.count_bytes(caller.username, read) as counted:
            await counted()
            return await worker.run_work(lambda: writing.save_edit(workspace.folder, edit, closed))

    async def open_entry(self, workspace: Workspace, path: str, *, folders: bool = False) -> Opened:
        """Open a file, or a folder to be packed. The caller has to close it.

        @param folders: true to accept a folder.
        @raise ServiceError: as in L{open_path}.
        """
        closed = self._deps.closed(workspace)
        handle = FileResourceHolder(await self._deps.workers.get_worker(workspace))

        def open_in_thread(held: ExitStack) -> Opened:
            return open_path(held, handle, workspace.folder, path, closed, folders=folders)

        try:
            return await handle.run_with_resources(open_in_thread)
        except BaseException:
            await handle.close()
            raise

    @contextmanager
    def count_transfer(self, workspace: Workspace) -> Iterator[None]:
        """Count a transfer of the session while the block runs.

        @raise ServiceError: 429 if the session has reached its limit of concurrent transfers.
        """
        with self._deps.transfers.hold_slot(workspace.session_id):
            yield

    def follow_file(self, workspace: Workspace, path: str, lines: int) -> AsyncIterator[Message]:
        """Yield messages with the text appended to a file; see L{FileFollowers.follow_file}."""
        return self._deps.followers.follow_file(workspace, path, lines)

    async def receive_upload(
        self,
        workspace: Workspace,
        content_type: str | None,
        read: Read,
        rules: UploadRules,
        *,
        account: str,
    ) -> list[StoredUpload]:
        """Store the files of a form in the workspace's folder for uploads.

        @param account: account whose daily quota counts the bytes.
        @raise ServiceError: 400 or 413 if the form violates C{rules}. 422 if the account's daily
            quota is used up, or the disk has too little free space. 429 if there are too many
            uploads.
        """
        worker = await self._deps.workers.get_worker(workspace)
        boundary = parse_boundary(content_type)
        rate = self._images.count_operation(workspace.session_id) if rules.images else nullcontext()
        counting = self._deps.quota.count_bytes(account, read)
        with rate, self.count_transfer(workspace), counting as counted:
            closed = self._deps.closed(workspace)

            def open_uploads_in_thread() -> int:
                with (
                    ConfinedFolder(workspace.folder, closed) as beneath,
                    beneath.resolve_path(".") as spot,
                ):
                    return open_uploads_folder(spot.folder, UPLOADS)

            self._deps.sweeper.remember_workspace(workspace)
            receiver = UploadReceiver.create(boundary, rules, lambda: get_unix_ms(self._deps.clock))
            return await feed_receiver(
                FileResourceHolder(worker), receiver, open_uploads_in_thread, counted
            )

    def start(self, hub: EventHub) -> None:
        """Start the hourly removal of old uploads, and observe removals of sessions."""
        self._deps.sweeper.start()
        self._unsubscribe = hub.subscribe(self._handle_event)

    def stop(self) -> None:
        """Stop the removal of uploads, end all streams, and stop observing sessions."""
        self._unsubscribe()
        self._deps.sweeper.stop()
        self._deps.followers.end_streams()
        self._deps.watches.close()

    def _handle_event(self, event: Event) -> None:
        if event.name is EventName.SESSION_DELETED:
            self._deps.followers.end_streams(event.session_id)


async def feed_receiver(
    handle: FileResourceHolder, receiver: UploadReceiver, place: Callable[[], int], read: Read
) -> list[StoredUpload]:
    """Read a form and pass its bytes to C{receiver} as they arrive, in worker threads.

    @param place: opens the target folder and returns its descriptor. Called in a worker thread.
    @return: the stored files.
    """
    try:
        await handle.run_with_resources(lambda held: receiver.open_folder(held, place()))
        while data := await read():
            await handle.run_with_resources(lambda held, piece=data: receiver.process_bytes(piece))  # type: ignore[misc]
        return await handle.run_with_resources(lambda held: receiver.store_files())
    finally:
        await handle.close()


def build_upload_path(workspace: Workspace, filename: str) -> str:
    """Return the absolute path of an uploaded file in the workspace."""
    return os.path.join(workspace.folder, UPLOADS, filename)
