"""Streams that send the text appended to a file, as C{tail -f} does (protocol-files)."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.clock import get_unix_seconds
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.timers import NamedTimers
from tservice.core.locations.folder_watches import FolderWatches
from tservice.files.confined_path import AccessRules
from tservice.files.model import Workspace
from tservice.files.reading.tail import FileTail, TailUpdate
from tservice.files.workers import FileResourceHolder, WorkspaceWorkers

STREAMS = 5
IDLE_SECONDS = 300.0
LINES = 1000
BEAT_SECONDS = 15.0

Message = dict[str, Any]

HEARTBEAT: Message = {}
"""Empty message that shows that the stream is alive while the file does not change."""


class FileFollowers:
    """Registry of the open streams of followed files.

    @param new_id: returns a new unique id for a stream.
    """

    def __init__(
        self,
        clock: IReactorTime,
        workers: WorkspaceWorkers,
        watches: FolderWatches,
        closed: Callable[[Workspace], AccessRules],
        new_id: Callable[[], str],
    ) -> None:
        self._clock, self._workers, self._watches = clock, workers, watches
        self._closed, self._new_id = closed, new_id
        self._open: Counter[str] = Counter()
        self._streams: dict[_FollowedStream, str] = {}

    @property
    def count(self) -> int:
        """Number of open streams of all sessions."""
        return len(self._streams)

    async def follow_file(
        self, workspace: Workspace, path: str, lines: int
    ) -> AsyncIterator[Message]:
        """Yield the messages of a new stream for one file.

        The stream ends with its session, or after L{IDLE_SECONDS} without new text.

        @param lines: number of last lines in the first message.
        @raise ServiceError: 429 if the session has L{STREAMS} streams already. Other errors are
            those of L{FileTail.open_at_lines}.
        """
        place = workspace.session_id
        if self._open[place] >= STREAMS:
            raise ServiceError(
                ErrorCode.RATE_LIMITED,
                f"{STREAMS} files of the session are followed already; close one of them",
            )
        self._open[place] += 1
        stream = _FollowedStream(self._clock)
        self._streams[stream] = place
        handle: FileResourceHolder | None = None
        try:
            handle = FileResourceHolder(await self._workers.get_worker(workspace))
            tail = FileTail(workspace.folder, path, self._closed(workspace))
            wanted = min(max(lines, 0), LINES)
            news = await handle.run_with_resources(lambda held: tail.open_at_lines(held, wanted))
            stream.stop = self._watches.watch_folder(tail.folder, stream.mark_changed)
            yield {"type": "connected", "streamId": self._new_id()}
            async for message in stream.iterate_messages(handle, tail, news):
                yield message
        finally:
            self._open[place] -= 1
            if not self._open[place]:
                del self._open[place]
            del self._streams[stream]
            stream.release_watch()
            if handle is not None:
                await handle.close()

    def end_streams(self, session_id: str | None = None) -> None:
        """End the streams of one session.

        @param session_id: id of the session. C{None} ends the streams of all sessions.
        """
        for stream, of in tuple(self._streams.items()):
            if session_id in (None, of):
                stream.end_stream()


class _FollowedStream:
    """Stream of one followed file.

    @ivar stop: function that ends the watch of the file's folder.
    """

    stop: Callable[[], None] | None = None

    def __init__(self, clock: IReactorTime) -> None:
        self._clock, self._timers = clock, NamedTimers(clock)
        # Changes between the first read and the watch are found by one more read.
        self._dirty = True
        self._over = False
        self._quiet = 0.0
        self._waiting: Deferred[None] | None = None

    async def iterate_messages(
        self, handle: FileResourceHolder, tail: FileTail, news: TailUpdate
    ) -> AsyncIterator[Message]:
        """Yield C{news} as the first message, then new text and heartbeats until L{end_stream} is
        called.

        @param handle: owner of the open files of C{tail}.
        """
        while not self._has_ended():
            if news.truncated:
                yield {"type": "truncated"}
            if news.text:
                yield {"type": "data", "data": news.text}
            if news.more or news.truncated:
                self._quiet = 0.0
            else:
                while not self._dirty and not self._has_ended():
                    if await self._wait_for_change():
                        yield HEARTBEAT
                        # Writes of another machine, and too many changes, cause no notification.
                        self._dirty = True
            if self._has_ended():
                break
            self._dirty = False
            try:
                now = get_unix_seconds(self._clock)
                news = await handle.run_with_resources(partial(_read_tail_update, tail, now))
            except ServiceError as error:
                yield {"type": "error", "message": error.message}
                return
        yield {"type": "end"}

    def mark_changed(self) -> None:
        """Note that something in the file's folder changed, so that the file is read again."""
        self._dirty = True
        self._wake_reader()

    def end_stream(self) -> None:
        """End the stream after its current message."""
        self._over = True
        self._wake_reader()

    def release_watch(self) -> None:
        """End the watch of the folder and cancel the heartbeat timer."""
        if self.stop is not None:
            self.stop()
        self._timers.cancel_all()

    def _has_ended(self) -> bool:
        return self._over

    async def _wait_for_change(self) -> bool:
        """Wait until the folder changes, the stream ends, or a heartbeat is due.

        @return: true if only a heartbeat is due.
        """
        if "beat" not in self._timers:
            self._timers.schedule_call("beat", BEAT_SECONDS, self._wake_for_heartbeat)
        self._waiting = Deferred()
        await self._waiting
        return not (self._dirty or self._over)

    def _wake_for_heartbeat(self) -> None:
        self._quiet += BEAT_SECONDS
        self._over = self._over or self._quiet >= IDLE_SECONDS
        self._wake_reader()

    def _wake_reader(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.called:
            waiting.callback(None)


def _read_tail_update(tail: FileTail, now: float, held: ExitStack) -> TailUpdate:
    return tail.read_news(now)
