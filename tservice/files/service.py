"""File operations for the routes (protocol-files, protocol-uploads)."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from attrs import field, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.clock import now_ms
from tservice.core.doors.concurrency_limit import ConcurrencyLimit
from tservice.core.events import Event, EventHub, EventName
from tservice.core.places.workspace_bounds import WorkspaceBounds
from tservice.files import text, tree, writing
from tservice.files.beneath import Beneath, Closed, FolderId, identity
from tservice.files.bounds import DailyBytes, Rate, Read
from tservice.files.following import Followers, Message
from tservice.files.forms import KeptUpload, Receiver, Rules, boundary_of, open_uploads
from tservice.files.model import (
    IMAGE_BYTES,
    IMAGES_A_MINUTE,
    TRANSFERS,
    UPLOAD_BYTES,
    UPLOAD_FILES,
    UPLOADS,
    Workspace,
)
from tservice.files.opened import Opened, open_path
from tservice.files.shown import FileTreeAnswer, shown_tree
from tservice.files.sweeper import Sweeper
from tservice.files.watches import Watches
from tservice.files.workers import Handle, Workers

IMAGE = Rules(field="image", most=1, size=IMAGE_BYTES, kind="paste", images=True)
FILES = Rules(field="file", most=UPLOAD_FILES, size=UPLOAD_BYTES, kind="upload")


@frozen(kw_only=True)
class Shut:
    """Factory of access rules: C{data} and everything below is inaccessible, except C{cases}, and
    so is everything outside the account's bounds.
    """

    data: Path
    cases: Path
    bounds: WorkspaceBounds

    def __call__(self, workspace: Workspace) -> Closed:
        """Return the rules that hold now. The folders' identities are read with the service's own
        rights, as an OS user may not see them.
        """
        within = self.cases.is_relative_to(self.data)
        free = identity(self.cases) if within else frozenset[FolderId]()
        inside = self.bounds.get_folder_limit(workspace.owner, workspace.place)
        return Closed(identity(self.data), free, inside)


@frozen(kw_only=True)
class FilesDependencies:
    """Dependencies of the file service.

    @ivar closed: returns the access rules of a workspace.
    @ivar quota: shared by all uploads.
    """

    clock: IReactorTime
    workers: Workers
    watches: Watches
    followers: Followers
    sweeper: Sweeper
    closed: Callable[[Workspace], Closed]
    quota: DailyBytes
    transfers: ConcurrencyLimit = field(
        factory=lambda: ConcurrencyLimit(
            TRANSFERS, f"the session has {TRANSFERS} transfers under way already; try again later"
        )
    )


class FilesService:
    """File operations, independent of HTTP and sessions."""

    def __init__(self, deps: FilesDependencies) -> None:
        self._deps = deps
        self._deaf: Callable[[], None] = lambda: None
        self._images = Rate(deps.clock, IMAGES_A_MINUTE, "images")

    @property
    def transfers(self) -> int:
        """Number of transfers under way."""
        return self._deps.transfers.count

    @property
    def followed(self) -> int:
        """Number of streams of followed files."""
        return self._deps.followers.count

    async def tree(self, workspace: Workspace, wanted: tree.TreeWanted) -> FileTreeAnswer:
        """Return the answer of C{GET files}."""
        closed = self._deps.closed(workspace)
        worker = await self._deps.workers.of(workspace)

        def work() -> FileTreeAnswer:
            return shown_tree(tree.list_tree(workspace.folder, wanted, closed))

        return await worker.run(work)

    async def show(self, workspace: Workspace, wanted: text.TextWanted) -> dict[str, Any]:
        """Return the answer of C{GET file-content}, without C{url}."""
        closed = self._deps.closed(workspace)
        worker = await self._deps.workers.of(workspace)
        return await worker.run(lambda: text.show(workspace.folder, wanted, closed))

    async def save(
        self,
        workspace: Workspace,
        edit: writing.Edit,
        again: Callable[[], object],
        *,
        account: str,
    ) -> dict[str, Any]:
        """Save a file and return the answer of C{PUT file-content}.

        @param again: authorizes the caller again after the wait for the workspace's location.
        @param account: the account whose bytes of the day are counted.
        @raise ServiceError: 422: these are used up; otherwise as L{writing.save}.
        """

        async def read() -> bytes:
            return edit.content

        closed = self._deps.closed(workspace)
        worker = await self._deps.workers.of(workspace)
        again()
        with self._deps.quota.counting(account, read) as counted:
            await counted()
            return await worker.run(lambda: writing.save(workspace.folder, edit, closed))

    async def open(self, workspace: Workspace, path: str, *, folders: bool = False) -> Opened:
        """Open a file, or a folder to be packed; the caller closes it.

        @raise ServiceError: as in L{open_path}.
        """
        closed = self._deps.closed(workspace)
        handle = Handle(await self._deps.workers.of(workspace))

        def work(held: ExitStack) -> Opened:
            return open_path(held, handle, workspace.folder, path, closed, folders=folders)

        try:
            return await handle.use(work)
        except BaseException:
            await handle.close()
            raise

    @contextmanager
    def transfer(self, workspace: Workspace) -> Iterator[None]:
        """Count a transfer for the duration of the block.

        @raise ServiceError: 429: the limit of transfers is reached.
        """
        with self._deps.transfers.hold_slot(workspace.session_id):
            yield

    def follow(self, workspace: Workspace, path: str, lines: int) -> AsyncIterator[Message]:
        """Follow a file; see L{Followers.follow}."""
        return self._deps.followers.follow(workspace, path, lines)

    async def receive(
        self,
        workspace: Workspace,
        content_type: str | None,
        read: Read,
        rules: Rules,
        *,
        account: str,
    ) -> list[KeptUpload]:
        """Store the files of a form in the workspace's uploads folder.

        @param account: account whose daily quota is used.
        @raise ServiceError: 400, 413: the form violates C{rules}; 422: the account's daily quota is
            used up, or the disk has too little free space; 429: too many.
        """
        worker = await self._deps.workers.of(workspace)
        boundary = boundary_of(content_type)
        rate = self._images.take(workspace.session_id) if rules.images else nullcontext()
        counting = self._deps.quota.counting(account, read)
        with rate, self.transfer(workspace), counting as counted:
            closed = self._deps.closed(workspace)

            def place() -> int:
                with Beneath(workspace.folder, closed) as beneath, beneath.find(".") as spot:
                    return open_uploads(spot.folder, UPLOADS)

            self._deps.sweeper.remember(workspace)
            receiver = Receiver.of(boundary, rules, lambda: now_ms(self._deps.clock))
            return await take_in(Handle(worker), receiver, place, counted)

    def start(self, hub: EventHub) -> None:
        """Start to sweep uploads and to listen for removed sessions."""
        self._deps.sweeper.start()
        self._deaf = hub.subscribe(self._heard)

    def stop(self) -> None:
        """Stop sweeping, following and listening."""
        self._deaf()
        self._deps.sweeper.stop()
        self._deps.followers.end()
        self._deps.watches.close()

    def _heard(self, event: Event) -> None:
        if event.name is EventName.SESSION_DELETED:
            self._deps.followers.end(event.session_id)


async def take_in(
    handle: Handle, receiver: Receiver, place: Callable[[], int], read: Read
) -> list[KeptUpload]:
    """Feed a form to C{receiver} as it arrives.

    @param place: opens the folder, in a thread.
    """
    try:
        await handle.use(lambda held: receiver.begin(held, place()))
        while data := await read():
            await handle.use(lambda held, piece=data: receiver.feed(piece))  # type: ignore[misc]
        return await handle.use(lambda held: receiver.end())
    finally:
        await handle.close()


def path_of(workspace: Workspace, filename: str) -> str:
    """Return the absolute path of an upload."""
    return os.path.join(workspace.folder, UPLOADS, filename)
