"""Recording of the files of a session's repositories at the end of each turn (protocol-changes).

Git only names the files that differ from HEAD; their contents go to the service's own database.
So nothing is written in the repository: no object, no index and no reference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred, DeferredLock, TimeoutError, gatherResults
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.event_payloads import OccurrencePayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.tasks import spawn_logged
from tservice.git.interfaces import (
    STATUS_WORDS,
    IWorkingCopies,
    WorkingCopy,
    WorkingFile,
    parse_changed_paths,
)
from tservice.review.comparison.trees import CONTENT_BYTES, MAX_COMPARED
from tservice.review.turns.store import (
    CompressedContent,
    RecordedFile,
    RecordedTree,
    TurnStore,
    compress_content,
)

SECONDS = 30.0
"""Time limit for reading the repositories of one session."""
TURN_BYTES = 8 * 1024 * 1024
"""Maximum bytes of new contents of one turn.  The files beyond are recorded without a content."""
_STATUS_BYTES = 4 * 1024 * 1024
_STATUS_WORDS = (*STATUS_WORDS, "--no-renames")
_BATCH = 25
"""Number of files whose contents are in memory at the same time."""
_BEGINS = frozenset({EventName.SESSION_WORKING, EventName.HOOK_PROMPT_SUBMITTED})

Contents = dict[str, CompressedContent]


class TurnRecorder:
    """Records the files of sessions at the ends of their turns, one session at a time.

    A turn that begins while the files are read cancels that: they would be those of both turns.
    """

    _log = Logger()

    def __init__(
        self, *, clock: IReactorTime, hub: EventHub, copies: IWorkingCopies, store: TurnStore
    ) -> None:
        self._clock, self._hub, self._copies, self._store = clock, hub, copies, store
        self._lock = DeferredLock()
        self._tasks: dict[str, Deferred[Any]] = {}
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Begin to follow the sessions."""
        self._unsubscribe = self._hub.subscribe(self._handle_event)

    def stop(self) -> Deferred[list[Any]]:
        """End the readings.  The result fires after the last one has ended."""
        self._unsubscribe()
        tasks = [*self._tasks.values()]
        # Those that wait end first, or they would begin.
        for session_id in reversed(tuple(self._tasks)):
            self._cancel(session_id)
        return gatherResults(tasks, consumeErrors=True)

    def _handle_event(self, event: Event) -> None:
        session_id = event.session_id
        if session_id is None:
            return
        if event.name in _BEGINS or event.name is EventName.SESSION_DELETED:
            self._cancel(session_id)
        elif event.name is EventName.SESSION_STOP and isinstance(event.payload, OccurrencePayload):
            self._cancel(session_id)
            self._begin(session_id, event.payload.at)

    def _begin(self, session_id: str, at: int) -> None:
        work = self._record(session_id, at)
        self._tasks[session_id] = task = spawn_logged(work, self._log, "recording a turn's files")

        def forget_task(_: object) -> None:
            if self._tasks.get(session_id) is task:
                del self._tasks[session_id]

        task.addCallback(forget_task)

    def _cancel(self, session_id: str) -> None:
        task = self._tasks.pop(session_id, None)
        if task is not None:
            task.cancel()

    async def _record(self, session_id: str, at: int) -> None:
        await self._lock.acquire()
        try:
            reading = Deferred.fromCoroutine(self._read_and_save(session_id, at))
            await reading.addTimeout(SECONDS, self._clock)
        except (ServiceError, TimeoutError) as error:
            self._log.debug("{id}: a turn is not recorded: {error}", id=session_id, error=error)
        finally:
            self._lock.release()

    async def _read_and_save(self, session_id: str, at: int) -> None:
        copies = await self._copies.open_working_copies(session_id)
        before = {tree.repo: tree for tree in self._store.list_last_trees(session_id)}
        trees: dict[str, RecordedTree] = {}
        contents: Contents = {}
        kept = self._store.list_kept_hashes(session_id)
        for copy in copies:
            tree = await read_tree(copy)
            if tree is None:
                continue
            if before.get(copy.path) != tree:
                tree = await read_contents(copy, tree, kept, contents)
            trees[copy.path] = tree
        if trees != before:
            self._store.save_turn(session_id, at, [*trees.values()], contents)


async def read_tree(copy: WorkingCopy) -> RecordedTree | None:
    """Return the files that differ from HEAD; C{None} before the first commit, and with more than
    L{MAX_COMPARED} such files.

    @raise ServiceError: 422: git fails.
    """
    output, is_cut = await copy.run_git(_STATUS_WORDS, _STATUS_BYTES)
    if is_cut:
        return None
    head, paths = await copy.run_in_thread(partial(parse_changed_paths, output, MAX_COMPARED))
    names = sorted({*paths.staged, *paths.unstaged, *paths.conflicted, *paths.untracked})
    names = [name for name in names if not name.endswith(b"/")]
    too_many = len(names) > MAX_COMPARED or paths.untracked_count > MAX_COMPARED
    if head.commit is None or not paths.is_complete or too_many:
        return None
    found = await copy.read_files(names)
    files = tuple(_make_record(name, file) for name, file in zip(names, found, strict=True))
    return RecordedTree(repo=copy.path, commit=head.commit, files=files)


async def read_contents(
    copy: WorkingCopy, tree: RecordedTree, kept: frozenset[str], contents: Contents
) -> RecordedTree:
    """Add the contents of a tree's files to C{contents}.

    @param kept: hashes of the contents that are not needed.
    @return: the tree with the files as they were when their contents were read.
    @raise ServiceError: 422: a file cannot be read.
    """
    files = {file.path: file for file in tree.files}
    missing = [file.path for file in tree.files if file.mode and file.hash not in kept]
    for at in range(0, len(missing), _BATCH):
        names = missing[at : at + _BATCH]
        found = await copy.read_files(names, CONTENT_BYTES)
        files |= {name: _make_record(name, file) for name, file in zip(names, found, strict=True)}
        room = TURN_BYTES - sum(each.size for each in contents.values())
        contents |= await copy.run_in_thread(partial(_compress_files, found, room))
    return evolve(tree, files=tuple(files[path] for path in sorted(files)))


def _make_record(path: bytes, file: WorkingFile) -> RecordedFile:
    return RecordedFile(path=path, mode=file.mode, hash=file.hash)


def _compress_files(files: Sequence[WorkingFile], room: int) -> Contents:
    """Return the contents of the files, by hash, as long as there is room."""
    found: Contents = {}
    for file in files:
        if file.data is None or file.hash in found or file.size > room:
            continue
        room -= file.size
        found[file.hash] = compress_content(file.data)
    return found
