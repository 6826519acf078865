"""Notification about changes in folders, by inotify(7)."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from itertools import islice
from typing import Any

from attrs import field, frozen
from twisted.internet import inotify
from twisted.internet.interfaces import IDelayedCall
from twisted.logger import Logger
from twisted.python.filepath import FilePath

from tservice.core.kernel.errors import make_failure_error
from tservice.core.kernel.timers import cancel_call

Heard = Callable[[], None]

_CHANGES = (
    inotify.IN_MODIFY
    | inotify.IN_CREATE
    | inotify.IN_DELETE
    | inotify.IN_MOVED_TO
    | inotify.IN_MOVED_FROM
    | inotify.IN_ATTRIB
    | inotify.IN_CLOSE_WRITE
)


READ_BYTES = 64 * 1024
REST_SECONDS = 0.05
"""Seconds to pause between two reads of inotify events, as a program can cause a million a second.

The kernel queues events during the pause, up to its limit.
"""
LISTENERS_PER_TURN, TURN_SECONDS = 4, 0.008
"""Listeners notified in one reactor turn, and the seconds until the next turn: hundreds of reads in
one turn would delay all other work."""

_EVENT = struct.Struct("=iIII")


class _BatchedNotifier(inotify.INotify):
    """inotify reader that reports each changed folder once per read.

    After an overflow of the kernel's queue it reports every folder. Twisted's own class reports
    each event with its path, which would keep the reactor busy.
    """

    _resting: IDelayedCall | None = None
    _over = False

    def doRead(self) -> None:
        try:
            data = os.read(self._fd, READ_BYTES)
        except BlockingIOError:
            return
        told, at = set(), 0
        while at < len(data):
            watch, mask, _, size = _EVENT.unpack_from(data, at)
            at += _EVENT.size + size
            told |= set(self._watchpoints) if mask & inotify.IN_Q_OVERFLOW else {watch}
        for watch in told:
            # A callback may end a watch, and the kernel still reports ended watches.
            found = self._watchpoints.get(watch)
            if found is not None:
                for callback in tuple(found.callbacks):
                    callback(found, found.path, 0)
        if not self._over:
            reactor: Any = self.reactor
            self.stopReading()
            self._resting = reactor.callLater(REST_SECONDS, self.startReading)

    def loseConnection(self) -> None:
        self._over = True
        cancel_call(self._resting)
        super().loseConnection()


@frozen(eq=False)
class _WatchedFolder:
    """Watched folder with an open descriptor, so that the watch survives a rename of the folder.

    @ivar listeners: functions to call after a change, each under a unique key.
    """

    path: FilePath[str]
    descriptor: int
    listeners: dict[object, Heard] = field(factory=dict)


class FolderWatches:
    """Watches of all folders that contain followed files.

    The kernel has one watch for a folder, however often it is added. This class therefore counts
    the listeners of each folder, and removes the watch after the last one.
    """

    _log = Logger()

    def __init__(self, reactor: Any) -> None:
        self._reactor = reactor
        self._notify: _BatchedNotifier | None = None
        self._watched: dict[tuple[int, int], _WatchedFolder] = {}
        # Listeners that are still to be notified: each once.
        self._pending: dict[object, Heard] = {}
        self._turn: IDelayedCall | None = None

    def __len__(self) -> int:
        return len(self._watched)

    def watch_folder(self, folder: int, listener: Heard) -> Callable[[], None]:
        """Call C{listener} after each change in C{folder}.

        @param folder: descriptor of the folder. The caller may close it afterwards.
        @return: function that ends the watch. It may be called twice.
        @raise ServiceError: 422 if the system's limit of inotify watches is reached.
        """
        status = os.fstat(folder)
        key = (status.st_dev, status.st_ino)
        watched = self._watched.get(key) or self._add_watch(key, folder)
        own = object()
        watched.listeners[own] = listener

        def stop() -> None:
            watched.listeners.pop(own, None)
            self._pending.pop(own, None)
            if not watched.listeners and self._watched.get(key) is watched:
                self._remove_watch(key)

        return stop

    def close(self) -> None:
        """End all watches."""
        for key in tuple(self._watched):
            self._remove_watch(key)

    def _add_watch(self, key: tuple[int, int], folder: int) -> _WatchedFolder:
        descriptor = os.dup(folder)
        watched = _WatchedFolder(FilePath(f"/proc/self/fd/{descriptor}"), descriptor)
        try:
            if self._notify is None:
                self._notify = _BatchedNotifier(self._reactor)
                self._notify.startReading()
            self._notify.watch(watched.path, _CHANGES, callbacks=[self._make_callback(watched)])
        except (inotify.INotifyError, OSError) as error:
            os.close(descriptor)
            self._log.warn("cannot watch a folder: {error}", error=str(error))
            self._stop_if_unused()
            raise make_failure_error(
                "path: the system's limit of watched folders is reached"
            ) from error
        self._watched[key] = watched
        return watched

    def _make_callback(self, watched: _WatchedFolder) -> Callable[[object, object, int], None]:
        def handle_event(ignored: object, path: object, mask: int) -> None:
            self._pending.update(watched.listeners)
            if self._turn is None:
                self._notify_listeners()

        return handle_event

    def _notify_listeners(self) -> None:
        """Call a limited number of listeners and schedule the others.

        A listener whose folder changes again moves to the end of the queue.
        """
        self._turn = None
        for own in tuple(islice(self._pending, LISTENERS_PER_TURN)):
            heard = self._pending.pop(own, None)
            if heard is None:
                # An earlier listener ended this watch.
                continue
            try:
                heard()
            except Exception:
                self._log.failure("a listener of a folder failed")
        if self._pending:
            self._turn = self._reactor.callLater(TURN_SECONDS, self._notify_listeners)

    def _remove_watch(self, key: tuple[int, int]) -> None:
        watched = self._watched.pop(key)
        if self._notify is not None:
            # Remove the watch first: a closed descriptor may be reused for another file.
            self._notify.ignore(watched.path)
        os.close(watched.descriptor)
        self._stop_if_unused()

    def _stop_if_unused(self) -> None:
        if not self._watched and self._notify is not None:
            notify, self._notify = self._notify, None
            notify.loseConnection()
            self._pending.clear()
            cancel_call(self._turn)
            self._turn = None
