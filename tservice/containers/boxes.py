"""Containers of cases: create, start, inspect and remove them (protocol-containers)."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from attrs import evolve, frozen
from twisted.internet.defer import DeferredLock
from twisted.internet.interfaces import IReactorTime

from tservice.containers.answers import Seen, State
from tservice.containers.argv import Box, Mount
from tservice.containers.engine import Engine, EngineError, is_up, refused
from tservice.containers.fence import WORKSPACE
from tservice.containers.folders import (
    Folders,
    credential_mounts,
    credentials_of,
    is_mountable,
    opened,
    put_credentials,
    put_secret,
)
from tservice.containers.hosts import Hosts
from tservice.containers.images import Images
from tservice.containers.kernel import look_inside, user_of
from tservice.containers.model import (
    ContainerCase,
    ContainerHost,
    Credentials,
    Resources,
    container_name,
)
from tservice.containers.obstacles import (
    explain_crowd,
    explain_early_end,
    explain_exchange,
    explain_other_user,
    explain_silence,
    refuse_other_user,
)
from tservice.containers.probe import SCRIPT, Inside, read_inside
from tservice.containers.store import ContainerStore
from tservice.core.doors.worker_pool import IThreads
from tservice.core.errors import operation_failed

REMEMBERED_SECONDS = 30.0
"""Seconds that the result of looking inside a container is cached."""

Act = Callable[[tuple[int, int], Callable[[], object]], object]
"""Does work on files as a user and group of this machine."""


@frozen(kw_only=True)
class Found:
    """Container as it was last seen.

    @ivar inside: contents of the container; C{None}: not examined since it was started.
    @ivar until: clock seconds at which its contents are examined again.
    """

    seen: Seen
    owner: tuple[int, int]
    inside: Inside | None = None
    until: float = 0.0


class Boxes:
    """Containers of cases; operations on one container run one after another.

    @param files: worker pool for folders that users named.
    @param act: see L{Act}.
    @param library: files that servers are started with.
    @param home: home folder of the service's user, whose credentials are passed on.
    @param suffix: returns six characters that make a taken name unique.
    """

    def __init__(
        self,
        *,
        clock: IReactorTime,
        store: ContainerStore,
        hosts: Hosts,
        images: Images,
        folders: Folders,
        files: IThreads,
        act: Act,
        library: Sequence[Path],
        home: Path,
        suffix: Callable[[], str],
    ) -> None:
        self._clock, self._store, self._hosts = clock, store, hosts
        self._images, self._folders, self._files = images, folders, files
        self._act, self._library, self._home = act, tuple(library), home
        self._suffix = suffix
        self._found: dict[str, Found] = {}
        self._locks: dict[str, DeferredLock] = {}

    # -- asked

    def case(self, container: str) -> ContainerCase | None:
        """Return the case that a container belongs to."""
        return self._store.container(container)

    def host(self, case: ContainerCase) -> ContainerHost:
        """Return the container host of a case.

        @raise ServiceError: 404.
        """
        return self._hosts.get(case.host_id)

    def known(self, container: str) -> Found | None:
        """Return the last known state of a container."""
        return self._found.get(container)

    def warnings(self, container: str) -> tuple[str, ...]:
        """Return the differences between the container and its configuration, as far as it was
        examined.
        """
        found = self._found.get(container)
        return () if found is None or found.inside is None else found.inside.warnings

    def is_measured(self, container: str) -> bool:
        """Return true if the engine measures this container's own usage; without limits it includes
        other processes.
        """
        found = self._found.get(container)
        return found is None or found.inside is None or "memory" not in found.inside.unlimited

    def trouble(self, container: str) -> str | None:
        """Return why nothing more can be started in the container; C{None}: no reason is known."""
        return explain_crowd(container, self.first(container))

    def first(self, container: str) -> int:
        """Return the number of its first process on this machine; 0: none is known."""
        found = self._found.get(container)
        return 0 if found is None else found.seen.pid

    async def look(self, case: ContainerCase) -> Seen | None:
        """Return the current state of a container; C{None}: there is none, or another service made
        it.

        @raise ServiceError: 422: the engine is not installed, or does not answer.
        """
        mine = (await self.look_at([case])).get(case.container)
        await self._note(case, mine)
        return mine

    async def look_at(self, cases: Sequence[ContainerCase]) -> dict[str, Seen]:
        """Return the current state of several containers of one host.

        Containers that are missing, or were made by another service, are left out.

        @raise ServiceError: as L{look}.
        """
        if not cases:
            return {}
        engine = self._hosts.engine(self._hosts.get(cases[0].host_id))
        try:
            seen = await engine.look([case.container for case in cases])
        except EngineError as error:
            raise refused(error, "the container cannot be inspected") from error
        asked = ((case, seen.get(case.container)) for case in cases)
        found = {it.container: each for it, each in asked if each and self._is_mine(each, it)}
        for case in cases:
            # Their workspace's owner is known.
            if case.container in self._found:
                await self._note(case, found.get(case.container))
        return found

    async def look_inside(self, case: ContainerCase) -> None:
        """Examine the contents of a running container, unless this was done before."""
        async with _held(self._locks, case.container):
            found = self._found.get(case.container)
            if found is None or found.inside is not None:
                return
            host = self._hosts.get(case.host_id)
            works = await self._hosts.works(host)
            told = await self._hosts.engine(host).execute(case.container, ["sh", "-c", SCRIPT])
            if told.well:
                inside = evolve(read_inside(told.out), unlimited=works.unlimited)
                self._found[case.container] = evolve(found, inside=inside)

    # -- moved

    async def ready(self, case: ContainerCase) -> Found:
        """Start the container, and create it if it is missing, with all that a session needs.

        @raise ServiceError: 422: it cannot be created or started, or its image lacks something.
        """
        async with _held(self._locks, case.container):
            found = self._found.get(case.container)
            if found is None or found.until <= self._clock.seconds():
                found = await self._ready(case)
            return found

    async def recreate(self, case: ContainerCase, check: Callable[[], object]) -> Found:
        """Create the container again; its home folder stays.

        @param check: called first, and again just before the old container is removed; it raises to
            prevent that.
        @raise ServiceError: as L{ready}.
        """
        async with _held(self._locks, case.container):
            check()
            with _told(case):
                # If it cannot be created, the existing one stays.
                await self._box(case, _owner(await self._folder(case)))
            check()
            await self._remove(case)
            return await self._ready(case)

    async def remove(self, case: ContainerCase) -> None:
        """Remove the container and its home folder.

        @raise ServiceError: 422: it may still be there.
        """
        async with _held(self._locks, case.container):
            await self._remove(case)
            await self._files.run(partial(self._folders.remove, case.container))
        self._locks.pop(case.container, None)

    async def free_name(self, host: ContainerHost, case: str) -> str:
        """Return the name of a new container, with a suffix if the plain name is taken.

        @raise ServiceError: 422: the engine does not answer.
        """
        plain = container_name(case)
        engine = self._hosts.engine(host)
        try:
            there = await engine.look([plain])
        except EngineError as error:
            raise refused(error, "the containers cannot be inspected") from error
        taken = plain in there or self._store.container(plain) is not None
        return container_name(case, self._suffix()) if taken else plain

    def put_secret(self, container: str, secret: str) -> None:
        """Write the secret of its hooks into a container's home folder.

        @raise OSError: it cannot be written there.
        """
        found = self._found.get(container)
        if found is None:
            raise OSError("the container was not inspected yet")
        with opened(self._folders.home(container)) as home:
            self._act(found.owner, partial(put_secret, home, secret))

    # -- inside

    async def _ready(self, case: ContainerCase) -> Found:
        engine = self._hosts.engine(self._hosts.get(case.host_id))
        folder = await self._folder(case)
        owner = _owner(folder)
        with _told(case):
            seen = (await engine.look([case.container])).get(case.container)
            made = seen is None
            if seen is None:
                await engine.create(await self._box(case, owner))
            elif not self._is_mine(seen, case):
                raise operation_failed(
                    f"the container {case.container} was not created by this service"
                )
            elif seen.state is State.PAUSED:
                raise operation_failed(f"the container {case.container} is paused")
            await self._files.run(partial(self._folders.prepare_library, self._library))
            stood = not is_up(seen)
            if stood:
                await engine.start(case.container)
            seen = (await engine.look([case.container])).get(case.container)
            if seen is None or seen.state is not State.RUNNING:
                words = await engine.last_words(case.container)
                raise operation_failed(explain_early_end(case, seen, words))
            if not await self._is_mounted(case, seen, folder):
                # The engine resolved the path again, and the folder there was exchanged.
                if stood:
                    await engine.stop(case.container)
                raise operation_failed(explain_exchange(case))
            user = user_of(seen.pid)
            if user not in (None, owner[0]):
                if stood:
                    await engine.stop(case.container)
                raise operation_failed(explain_other_user(case, owner[0], user, made=made))
            inside = await self._look_inside(case, engine, seen.pid)
        found = Found(
            seen=seen,
            owner=owner,
            inside=inside,
            until=self._clock.seconds() + REMEMBERED_SECONDS,
        )
        self._found[case.container] = found
        return found

    async def _look_inside(self, case: ContainerCase, engine: Engine, first: int) -> Inside:
        told = await engine.execute(case.container, ["sh", "-c", SCRIPT])
        if not told.well:
            raise operation_failed(explain_silence(case.container, first, told))
        works = await self._hosts.works(self._hosts.get(case.host_id))
        inside = evolve(read_inside(told.out), unlimited=works.unlimited)
        if inside.fault is not None:
            raise operation_failed(inside.fault)
        return inside

    async def _box(self, case: ContainerCase, user: tuple[int, int]) -> Box:
        """Return the specification of a case's container; its image and its folders exist
        afterwards.

        @raise OSError: its folders cannot be made.
        @raise EngineError: its image is not available.
        """
        refuse_other_user(case, user[0])
        host = self._hosts.get(case.host_id)
        engine = self._hosts.engine(host)
        works = await self._hosts.works(host)
        image = case.image or host.image
        await self._images.ensure(host, engine, image)
        uid, gid = user
        how = case.credentials or host.credentials
        prepare = partial(self._prepare, case.container, user, how)
        mounts = [
            *self._folders.mounts(case.container, case.path),
            *await self._files.run(prepare),
        ]
        if not all(is_mountable(mount.source) for mount in mounts):
            raise operation_failed(
                "engines cannot mount paths that hold a comma, a quote or a line break"
            )
        box = Box(
            name=case.container,
            image=image,
            resources=resources_of(case, host),
            network=case.network or host.network,
            user=engine.tongue.user(uid, gid, rootless=works.rootless),
            mounts=mounts,
            labels={},
            extra=host.create_args,
        )
        labels = {
            "service": self._store.service_id(),
            "owner": case.owner,
            "case": case.name,
            "made": _digest(engine.tongue.create(box)),
        }
        return evolve(box, labels=labels)

    def _prepare(self, container: str, owner: tuple[int, int], how: Credentials) -> Sequence[Mount]:
        """Create the container's folders; runs in a thread.

        @return: the mounts of credentials.
        """
        self._folders.prepare_library(self._library)
        self._folders.prepare(container, owner)
        found = {} if how is Credentials.NONE else credentials_of(self._home)
        mounted = how is Credentials.MOUNTED
        # A mount point has to exist as a file, in folders of the user.
        put = dict.fromkeys(found, b"") if mounted else found
        with opened(self._folders.home(container)) as home:
            self._act(owner, partial(put_credentials, home, put, mounted=mounted))
        return credential_mounts(self._home, found) if mounted else ()

    async def _remove(self, case: ContainerCase) -> None:
        engine = self._hosts.engine(self._hosts.get(case.host_id))
        try:
            seen = (await engine.look([case.container])).get(case.container)
            if seen is not None and self._is_mine(seen, case):
                await engine.remove(case.container)
        except EngineError as error:
            raise refused(error, "the container cannot be removed") from error
        self._found.pop(case.container, None)

    async def _note(self, case: ContainerCase, seen: Seen | None) -> None:
        before = self._found.get(case.container)
        if seen is None:
            self._found.pop(case.container, None)
        elif before is not None and before.seen.pid == seen.pid:
            self._found[case.container] = evolve(before, seen=seen)
        else:
            owner = before.owner if before is not None else _owner(await self._folder(case))
            self._found[case.container] = Found(seen=seen, owner=owner)

    async def _is_mounted(self, case: ContainerCase, seen: Seen, folder: os.stat_result) -> bool:
        """Return true if a running container has that folder mounted as its workspace.

        @raise OSError: this cannot be determined.
        """
        look = partial(look_inside, seen.pid, WORKSPACE)
        try:
            inside = await self._files.run(look, at=case.path, owner=case.owner)
        except PermissionError:
            if os.geteuid() == 0:
                raise
            # Its group is not the service's; every process there belongs to the service's user.
            return True
        return os.path.samestat(folder, inside)

    async def _folder(self, case: ContainerCase) -> os.stat_result:
        """Return the status of the workspace folder; its owner will own the files made in it.

        An engine would follow a link in its place, and mount the link's target.

        @raise ServiceError: 422: it is no folder.
        """
        look = partial(os.lstat, case.path)
        try:
            found: os.stat_result = await self._files.run(look, at=case.path, owner=case.owner)
        except OSError as error:
            raise operation_failed(
                f"the workspace {case.path}: {error.strerror or error}"
            ) from error
        if not stat.S_ISDIR(found.st_mode):
            raise operation_failed(f"the workspace {case.path} is no longer a folder")
        return found

    def _is_mine(self, seen: Seen, case: ContainerCase) -> bool:
        labels = seen.labels
        # Not by its owner: a removed account's containers belong to nobody.
        return (labels.get("service"), labels.get("case")) == (self._store.service_id(), case.name)


class _held:
    """Hold the lock of one container."""

    def __init__(self, locks: dict[str, DeferredLock], name: str) -> None:
        self._lock = locks.setdefault(name, DeferredLock())

    async def __aenter__(self) -> None:
        await self._lock.acquire()

    async def __aexit__(self, *_: object) -> None:
        self._lock.release()


def resources_of(case: ContainerCase, host: ContainerHost) -> Resources:
    """Return the limits of a case's container: the case's own where set, or else its host's."""
    whole = host.resources
    return evolve(
        whole,
        memory=whole.memory if case.memory is None else case.memory,
        cpus=whole.cpus if case.cpus is None else case.cpus,
    )


@contextmanager
def _told(case: ContainerCase) -> Iterator[None]:
    """Turn errors of the engine and of the file system into a 422 for clients."""
    try:
        yield
    except EngineError as error:
        raise refused(error, f"the container {case.container}") from error
    except OSError as error:
        raise operation_failed(f"the container's folders: {error.strerror or error}") from error


def _owner(folder: os.stat_result) -> tuple[int, int]:
    return folder.st_uid, folder.st_gid


def _digest(argv: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(list(argv)).encode()).hexdigest()
