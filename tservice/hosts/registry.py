"""Registry of remote hosts, kept in memory and stored in a file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from attrs import evolve
from twisted.internet.defer import DeferredLock
from twisted.logger import Logger

from tservice.core.callers.caller import Caller
from tservice.core.disk.files import FileError
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_failure_error,
    make_not_found_error,
)
from tservice.core.workers.worker_pool import IThreads
from tservice.hosts.model import MOST_HOSTS, RemoteHost, check_host, make_host_id
from tservice.store.list_file import JsonListFile

Hosts = tuple[RemoteHost, ...]


class HostRegistry:
    """Registry of remote hosts. Changes are made one at a time, and take effect once they are on
    disk.
    """

    _log = Logger()

    def __init__(self, file: JsonListFile[RemoteHost], threads: IThreads) -> None:
        self._file = file
        self._threads = threads
        self._hosts: Hosts = ()
        self._lock = DeferredLock()

    def load(self) -> None:
        """Read the stored hosts when the service starts.

        A file that cannot be used is left unchanged, and the log states the reason. There are no
        hosts then, and changes fail with a 409 until an operator has repaired the file.
        """
        try:
            self._file.remove_partial_files()
            self._hosts = self._file.read_records()
        except (FileError, OSError) as error:
            self._log.error("{error}; remote hosts are not available", error=str(error))

    def list_hosts(self) -> Hosts:
        """Return the hosts in the order in which they were created."""
        return self._hosts

    def find_host(self, host_id: str) -> RemoteHost | None:
        """Return the host with this id, or C{None} if there is none."""
        return next((host for host in self._hosts if host.id == host_id), None)

    def get_host(self, host_id: str) -> RemoteHost:
        """Return the host with this id.

        @raise ServiceError: 404 if there is no such host.
        """
        found = self.find_host(host_id)
        if found is None:
            raise make_not_found_error(f"Remote host {host_id}")
        return found

    async def add(self, host: RemoteHost, caller: Caller) -> RemoteHost:
        """Add a host, and return it with an id derived from its label.

        @param caller: authorized again after waiting for concurrent
            changes.
        @raise ServiceError: 400 naming the field; 409 if the label is in use; 422 if there are too
            many hosts, or the disk is full.
        """
        check_host(host)
        made: list[RemoteHost] = []

        def append_to_list(hosts: Hosts) -> Hosts:
            caller.reauthorize()
            if len(hosts) >= MOST_HOSTS:
                raise make_failure_error(
                    f"there are {MOST_HOSTS} remote hosts already; remove one first"
                )
            _refuse_duplicate_label(hosts, host)
            made.append(evolve(host, id=make_host_id(host.label, {each.id: 1 for each in hosts})))
            return (*hosts, made[0])

        await self._apply_change(append_to_list)
        return made[0]

    async def replace_host(self, host: RemoteHost, caller: Caller) -> RemoteHost:
        """Replace the host that has the id of C{host}.

        @param caller: as for L{add}.
        @raise ServiceError: 404 if there is no such host. Other errors are those of L{add}.
        """
        check_host(host)

        def replace_in_list(hosts: Hosts) -> Hosts:
            caller.reauthorize()
            before = self.get_host(host.id)
            _refuse_duplicate_label(tuple(each for each in hosts if each is not before), host)
            return tuple(host if each is before else each for each in hosts)

        await self._apply_change(replace_in_list)
        return host

    async def remove(self, host_id: str, check: Callable[[], None]) -> None:
        """Remove a host.

        @param check: called right before the removal; raises an error if the host must stay.
        @raise ServiceError: 404 if there is no such host; 409 or 422 if the file cannot be used or
            written.
        """

        def remove_from_list(hosts: Hosts) -> Hosts:
            gone = self.get_host(host_id)
            check()
            return tuple(each for each in hosts if each is not gone)

        await self._apply_change(remove_from_list)

    async def _apply_change(self, change: Callable[[Hosts], Hosts]) -> None:
        await self._lock.acquire()
        try:
            after = change(self._hosts)
            await self._threads.run(partial(self._file.write_records, after))
            self._hosts = after
        finally:
            self._lock.release()


def _refuse_duplicate_label(others: Hosts, host: RemoteHost) -> None:
    label = host.label.strip().casefold()
    if any(other.label.strip().casefold() == label for other in others):
        text = f"label: a remote host named {host.label} exists already"
        raise ServiceError(ErrorCode.ALREADY_EXISTS, text)
